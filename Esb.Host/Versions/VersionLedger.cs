using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Host.Reloading;

namespace Esb.Host.Versions;

/// <summary>Keeps the versions that exchanges put into service. Where versions are what hosts run, an exchange needs its version; otherwise
/// versions are kept as well as the store allows. Thread-safe.</summary>
internal sealed partial class VersionLedger(
    IConfigurationVersions versions,
    VersionReader reader,
    StoreConfig store,
    TimeProvider time,
    ILogger<VersionLedger> logger
)
{
    private static readonly TimeSpan FileLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LongestDoubt = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan LongestTurn = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(500);

    /// <summary>True if all hosts read the same versions.</summary>
    public bool IsShared => store.IsShared;

    /// <summary>Keeps what an exchange is about to put into service.</summary>
    /// <returns>It, with its content and number; no number if it could not be kept, and files are what hosts run.</returns>
    /// <exception cref="EsbException"><c>ESB-CONFIG-CONFLICT</c>, <c>ESB-CONFIG-BUSY</c>; where versions are what hosts run, also: the
    /// store is unreachable or cannot be written.</exception>
    public async Task<ReadConfiguration> ProposeAsync(
        Guid exchange,
        ExchangeOrder order,
        ReadConfiguration read,
        IReadOnlyList<string> changes,
        CancellationToken cancellationToken
    )
    {
        using var limit = new CancellationTokenSource(reader.IsStore ? Timeout.InfiniteTimeSpan : FileLimit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            read = read with { Content = await reader.ContentOfAsync(read, either.Token) };
            var version = new ProposedVersion(
                exchange,
                read.Model.Revision,
                order.BasedOn,
                order.Kind,
                string.Join('\n', changes),
                order.Decision,
                read.Content
            );
            return read with { Number = await ProposeAsync(version, either.Token) };
        }
        catch (Exception ex) when (!reader.IsStore && IsStoreFailure(ex) && !cancellationToken.IsCancellationRequested)
        {
            LogNotKept(ex, read.Model.Revision);
            return read with { Number = null };
        }
    }

    // A host that has just started keeps what it started with at the same moment.
    private async Task<long> ProposeAsync(ProposedVersion version, CancellationToken cancellationToken)
    {
        for (var began = time.GetTimestamp(); ; )
        {
            try
            {
                return await versions.ProposeAsync(version, cancellationToken);
            }
            catch (EsbException ex) when (ex.Code == "ESB-CONFIG-BUSY" && time.GetElapsedTime(began) < LongestTurn)
            {
                await Task.Delay(Look, time, cancellationToken);
            }
        }
    }

    /// <summary>Decides that hosts run a proposed version.</summary>
    /// <exception cref="EsbException">Where versions are what hosts run: it is not proposed any more, or whether it was accepted cannot be
    /// known; hosts look at the store then, and follow it.</exception>
    public async Task AcceptAsync(long? number, Guid exchange)
    {
        if (number is not { } proposed)
            return;
        try
        {
            if (!await versions.AcceptAsync(proposed, exchange, CancellationToken.None) && reader.IsStore)
                throw RevisionExchange.Busy("The exchange took too long.");
        }
        catch (EsbException ex) when (IsStoreFailure(ex))
        {
            if (!await WasAcceptedAsync(exchange, LongestDoubt) && reader.IsStore)
                throw;
            LogNotKept(ex, $"of version {proposed}");
        }
    }

    /// <summary>Forgets a version that was not accepted. Best effort: it is forgotten after two minutes.</summary>
    public async Task WithdrawAsync(Guid exchange)
    {
        try
        {
            await versions.WithdrawAsync(exchange, CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogNotWithdrawn(ex);
        }
    }

    /// <summary>True if the store says that hosts run the version of an exchange; false if not, or if it cannot be read in time.</summary>
    public async Task<bool> WasAcceptedAsync(Guid exchange, TimeSpan limit)
    {
        for (var began = time.GetTimestamp(); ; await Task.Delay(Pause, time))
        {
            try
            {
                return await versions.IsAcceptedAsync(exchange, CancellationToken.None);
            }
            catch (EsbException) when (time.GetElapsedTime(began) < limit)
            {
                continue;
            }
            catch (EsbException ex)
            {
                LogUnknown(ex);
                return false;
            }
        }
    }

    /// <summary>Keeps what runs as the newest version, unless it is.</summary>
    /// <returns>The number of the newest version.</returns>
    /// <exception cref="EsbException">The store is unreachable or cannot be written, or another version is being kept.</exception>
    public async Task<long> KeepAsync(ReadConfiguration running, string kind, string by, CancellationToken cancellationToken)
    {
        var newest = await versions.FindNewestAsync(cancellationToken);
        if (newest is not null && (reader.IsStore || newest.Revision == running.Model.Revision))
            return newest.Number;
        var exchange = Guid.NewGuid();
        var number = await versions.ProposeAsync(
            new ProposedVersion(
                exchange,
                running.Model.Revision,
                newest?.Number ?? 0,
                kind,
                "",
                new OperatorDecision(by, Reason: null),
                await reader.ContentOfAsync(running, cancellationToken)
            ),
            cancellationToken
        );
        await versions.AcceptAsync(number, exchange, cancellationToken);
        return number;
    }

    private static bool IsStoreFailure(Exception exception) =>
        exception is OperationCanceledException or EsbException { Code: not ("ESB-CONFIG-CONFLICT" or "ESB-CONFIG-BUSY") };

    [LoggerMessage(EventId = 5040, Level = LogLevel.Warning, Message = "Revision {Revision} could not be kept as a version")]
    private partial void LogNotKept(Exception exception, string revision);

    [LoggerMessage(EventId = 5041, Level = LogLevel.Warning, Message = "A version that was not accepted could not be removed")]
    private partial void LogNotWithdrawn(Exception exception);

    [LoggerMessage(EventId = 5042, Level = LogLevel.Error, Message = "Whether the version was accepted cannot be read from the store")]
    private partial void LogUnknown(Exception exception);
}
