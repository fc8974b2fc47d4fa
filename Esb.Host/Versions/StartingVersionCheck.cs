using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Host.Composition;

namespace Esb.Host.Versions;

/// <summary>Looks, before a starting host handles messages, whether it has read the newest version: an exchange that was proposed before
/// the other hosts knew of this one does not ask it.</summary>
internal sealed partial class StartingVersionCheck(
    VersionReader reader,
    VersionLedger ledger,
    IConfigurationVersions versions,
    ConfigurationSource source,
    Live<BusModel> live,
    IFarm farm,
    TimeProvider time,
    ILogger<StartingVersionCheck> logger
) : IOutboundGround, IDisposable
{
    private static readonly TimeSpan LongestAsk = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LongestProposal = TimeSpan.FromSeconds(15); // its host may have died
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);

    private IDisposable? _hearing;

    public BusStage Stage => BusStage.Outbound;

    /// <exception cref="NewerVersionException">The host has to start with another version.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (!reader.IsStore)
            return;
        try
        {
            if (ledger.IsShared)
                await JoinAsync(cancellationToken);
            await CompareAsync(cancellationToken);
        }
        catch (EsbException ex)
        {
            LogNotCompared(ex); // the store reports that it is away; the host follows it later
        }
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        Dispose();
        return Task.CompletedTask;
    }

    public void Dispose() => _hearing?.Dispose();

    // A host that answers has heard of this one: from now on no exchange leaves it out.
    private async Task JoinAsync(CancellationToken cancellationToken)
    {
        _hearing = farm.Answer<AskHeard, Heard>((_, _) => Task.FromResult(new Heard()));
        for (var began = time.GetTimestamp(); time.GetElapsedTime(began) < LongestAsk; await Task.Delay(Look, time, cancellationToken))
        {
            try
            {
                await farm.AskOthersAsync<AskHeard, Heard>(new AskHeard(), LongestAsk - time.GetElapsedTime(began), cancellationToken);
                return;
            }
            catch (EsbException ex) when (ex.Kind == FaultKind.Unavailable)
            {
                // not connected yet
            }
        }
    }

    private async Task CompareAsync(CancellationToken cancellationToken)
    {
        for (var began = time.GetTimestamp(); ; await Task.Delay(Look, time, cancellationToken))
        {
            var started = source.Start?.Number ?? 0;
            var newest = await versions.FindNewestAsync(cancellationToken);
            if (newest is not null && newest.Number > started && newest.Revision != live.Current.Revision)
            {
                LogBeginsAnew(newest.Number, started);
                throw new NewerVersionException(newest.Number);
            }

            var next = Math.Max(started, newest?.Number ?? 0) + 1;
            if (await versions.FindAsync(next, cancellationToken) is null || time.GetElapsedTime(began) >= LongestProposal)
                return;
        }
    }

    [LoggerMessage(
        EventId = 5047,
        Level = LogLevel.Information,
        Message = "Version {Newest} was put into service while this host started with version {Number}: it starts anew"
    )]
    private partial void LogBeginsAnew(long newest, long number);

    [LoggerMessage(
        EventId = 5048,
        Level = LogLevel.Warning,
        Message = "Whether a newer version of the configuration is in service is unknown; the host follows the store once it answers"
    )]
    private partial void LogNotCompared(Exception exception);
}

/// <summary>Asks other hosts whether they have heard of this one.</summary>
internal sealed record AskHeard;

/// <summary>They have.</summary>
internal sealed record Heard;
