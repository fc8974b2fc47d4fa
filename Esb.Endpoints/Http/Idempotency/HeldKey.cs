using Esb.Core.Errors;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Idempotency;

/// <summary>A claim that is renewed until it is disposed, however long the work takes.</summary>
internal sealed partial class HeldKey : IAsyncDisposable
{
    private readonly IIdempotencyKeys _keys;
    private readonly KeyClaim.Granted _claim;
    private readonly ILogger _logger;
    private readonly PeriodicTimer _timer;
    private readonly Task _renewing;

    public HeldKey(IIdempotencyKeys keys, KeyClaim.Granted claim, TimeProvider time, ILogger logger)
    {
        _keys = keys;
        _claim = claim;
        _logger = logger;
        _timer = new PeriodicTimer(IIdempotencyKeys.Lease / 4, time);
        _renewing = RenewAsync();
    }

    public async ValueTask DisposeAsync()
    {
        _timer.Dispose();
        await _renewing;
    }

    private async Task RenewAsync()
    {
        while (await _timer.WaitForNextTickAsync())
        {
            try
            {
                await _keys.RenewAsync(_claim, CancellationToken.None);
            }
            catch (EsbException ex)
            {
                LogNotRenewed(_claim.Key.Endpoint, ex); // the next tick retries
            }
        }
    }

    [LoggerMessage(EventId = 2130, Level = LogLevel.Warning, Message = "The key of a request to {Endpoint} could not be renewed")]
    private partial void LogNotRenewed(string endpoint, Exception exception);
}
