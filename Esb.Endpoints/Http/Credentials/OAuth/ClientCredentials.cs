using Esb.Core.Errors;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Http.Credentials.OAuth;

/// <summary>A bearer token of an authorization server, kept until shortly before its end. One request for a token at a time serves all
/// senders. Thread-safe.</summary>
internal sealed partial class ClientCredentials(string endpoint, TokenClient tokens, TimeProvider time, ILogger logger)
    : TargetCredential("Authorization")
{
    // While the old token is still valid, failed renewals are repeated at this pace.
    private static readonly TimeSpan Pace = TimeSpan.FromSeconds(5);

    private readonly SemaphoreSlim _renewing = new(1);
    private volatile AccessToken? _token;

    public override ValueTask<string> CurrentAsync(CancellationToken cancellationToken) =>
        _token is { } token && time.GetUtcNow() < token.RenewAt ? ValueTask.FromResult(token.Authorization) : RenewAsync(cancellationToken);

    /// <inheritdoc/>
    public override bool Refuse(string value)
    {
        if (_token is { } token && token.Authorization == value)
            Interlocked.CompareExchange(ref _token, null, token);
        return true;
    }

    public override void Dispose()
    {
        tokens.Dispose();
        _renewing.Dispose();
    }

    private async ValueTask<string> RenewAsync(CancellationToken cancellationToken)
    {
        await _renewing.WaitAsync(cancellationToken);
        try
        {
            var now = time.GetUtcNow();
            if (_token is { } known && now < known.RenewAt)
                return known.Authorization; // another sender was first
            _token = await RequestAsync(_token is { } old && now < old.ValidUntil ? old : null, cancellationToken);
            return _token.Authorization;
        }
        finally
        {
            _renewing.Release();
        }
    }

    private async Task<AccessToken> RequestAsync(AccessToken? valid, CancellationToken cancellationToken)
    {
        try
        {
            return await tokens.RequestAsync(cancellationToken);
        }
        catch (EndpointException ex) when (valid is not null)
        {
            LogNotRenewed(logger, endpoint, ex.Detail ?? ex.Message, valid.ValidUntil);
            return valid with { RenewAt = time.GetUtcNow() + Pace };
        }
    }

    [LoggerMessage(
        EventId = 2190,
        Level = LogLevel.Warning,
        Message = "The access token of endpoint {Endpoint} could not be renewed and is used until {End}: {Reason}"
    )]
    private static partial void LogNotRenewed(ILogger logger, string endpoint, string reason, DateTimeOffset end);
}
