using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps.Deduplication;

/// <summary>The right to process the message of a key, until its process ends; renewed meanwhile. Not thread-safe.</summary>
internal sealed partial class MessageClaim : IProcessEnding
{
    private readonly KeyClaim.Granted _claim;
    private readonly MessageContext _context;
    private readonly TimeSpan _keep;
    private readonly IIdempotencyKeys _keys;
    private readonly IEndpointMarks _marks;
    private readonly ArrivingMessages _arriving;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _ended = new();
    private readonly Task _renewing;
    private bool _isForgone;
    private bool _isReleased;

    public MessageClaim(
        KeyClaim.Granted claim,
        MessageContext context,
        TimeSpan keep,
        IIdempotencyKeys keys,
        IEndpointMarks marks,
        ArrivingMessages arriving,
        TimeProvider time,
        ILogger<MessageClaim> logger
    )
    {
        (_claim, _context, _keep) = (claim, context, keep);
        (_keys, _marks, _arriving, _time, _logger) = (keys, marks, arriving, time, logger);
        _renewing = RenewAsync(_ended.Token);
    }

    /// <summary>The message is a repetition after all: the claim is released, and nothing is remembered anew.</summary>
    public void Forgo() => _isForgone = true;

    public async ValueTask SucceedAsync(CancellationToken cancellationToken)
    {
        if (!_isForgone)
            await RememberAsync(cancellationToken);
        await FailAsync();
    }

    // A kill loses what waits in memory; its source then brings the message again, which must pass.
    private async ValueTask RememberAsync(CancellationToken cancellationToken)
    {
        var message = $"{_context.HeldId}";
        if (_context.HasSettled)
            await KeepAsync(message, cancellationToken);
        else
            _context.AwaitSettled(_arriving.Add(_claim.Key, message, _context.Settled, () => KeepAsync(message, CancellationToken.None)));
    }

    private Task KeepAsync(string message, CancellationToken cancellationToken) =>
        _marks.KeepAsync(_claim.Key.Endpoint, _claim.Key.Value, message, _keep, cancellationToken);

    public async ValueTask FailAsync()
    {
        if (_isReleased)
            return;
        _isReleased = true;
        await _ended.CancelAsync();
        await _renewing;
        try
        {
            await _keys.ReleaseAsync(_claim, CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogUnreleased(_claim.Key.Endpoint, ex.Message); // it expires by itself
        }

        _ended.Dispose();
    }

    private async Task RenewAsync(CancellationToken ended)
    {
        while (true)
        {
            await Task.Delay(IIdempotencyKeys.Lease / 3, _time, ended)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            if (ended.IsCancellationRequested)
                return;
            try
            {
                await _keys.RenewAsync(_claim, ended);
            }
            catch (Exception ex) when (ex is EsbException or OperationCanceledException)
            {
                if (!ended.IsCancellationRequested)
                    LogUnrenewed(_claim.Key.Endpoint, ex.Message); // the next renewal may succeed
            }
        }
    }

    [LoggerMessage(
        EventId = 3062,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint}: the claim of a message could not be released; a repetition waits up to a minute: {Reason}"
    )]
    private partial void LogUnreleased(string endpoint, string reason);

    [LoggerMessage(
        EventId = 3063,
        Level = LogLevel.Warning,
        Message = "Endpoint {Endpoint}: the claim of a message could not be renewed; a repetition may be processed beside it: {Reason}"
    )]
    private partial void LogUnrenewed(string endpoint, string reason);
}
