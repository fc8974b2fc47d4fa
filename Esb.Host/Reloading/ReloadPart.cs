using System.Runtime.InteropServices;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Host.Composition;
using Esb.Host.Management;

namespace Esb.Host.Reloading;

/// <summary>Reloads the configuration on SIGHUP, and on file changes if <c>management.reload</c> enables it.</summary>
internal sealed class ReloadPart(
    ReloadDesk desk,
    IFarm farm,
    Live<ManagementConfig> management,
    ConfigurationSource source,
    TimeProvider time
) : IBusPart, IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(2);

    private readonly CancellationTokenSource _stopping = new();
    private PosixSignalRegistration? _signal;
    private IReadOnlyList<IDisposable> _hearing = [];
    private Task _watching = Task.CompletedTask;

    public BusStage Stage => BusStage.Inbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(IInboundGround), typeof(IEndpointMonitor)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        desk.Open();

        // On a terminal, SIGHUP means that the terminal was closed.
        if (Console.IsInputRedirected)
            _signal = PosixSignalRegistration.Create(PosixSignal.SIGHUP, Handle);
        _hearing =
        [
            farm.Answer<PrepareReload, ReloadPrepared>(
                async (question, token) => new ReloadPrepared(await desk.PrepareAsync(question, token))
            ),
            farm.Answer<DecideReload, ReloadDecided>((decision, _) => desk.DecideAsync(decision)),
            farm.Answer<AskStarts, StartsKnown>((question, _) => Task.FromResult(desk.StartsOf(question.Id))),
            farm.Subscribe<AwaitReload>(
                (_, reminder, _) =>
                {
                    desk.Await(reminder);
                    return Task.CompletedTask;
                }
            ),
            farm.Subscribe<DecideReload>((_, decision, _) => decision.Goes ? Task.CompletedTask : desk.DecideAsync(decision)),
        ];
        _watching = WatchAsync(_stopping.Token);
        return Task.CompletedTask;
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        _signal?.Dispose();
        foreach (var hearing in _hearing)
            hearing.Dispose();
        await _stopping.CancelAsync();
        await _watching;
        await desk.StopAsync(cancellationToken);
    }

    public void Dispose()
    {
        _signal?.Dispose();
        _stopping.Dispose();
    }

    private void Handle(PosixSignalContext context)
    {
        context.Cancel = true; // keeps the process alive
        _ = TryReloadAsync("SIGHUP");
    }

    // Polls the file system instead of using notifications, which also works on mounted volumes.
    private async Task WatchAsync(CancellationToken stopping)
    {
        var (loaded, seen, since) = (ConfigurationFiles.StateOf(source.Path), ConfigurationFiles.StateOf(source.Path), time.GetTimestamp());
        try
        {
            while (true)
            {
                await Task.Delay(Interval, time, stopping);
                if (management.Current.Reload != ReloadMode.Watch)
                {
                    loaded = ""; // changes made meanwhile are loaded once watching resumes
                    continue;
                }

                var now = ConfigurationFiles.StateOf(source.Path);
                if (now != seen)
                    (seen, since) = (now, time.GetTimestamp());
                if (seen == loaded || time.GetElapsedTime(since) < Quiet)
                    continue;
                loaded = seen; // a refused configuration is not retried until its files change
                await TryReloadAsync("watch");
            }
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // The host is stopping.
        }
    }

    private async Task TryReloadAsync(string by)
    {
        try
        {
            await desk.ReloadAsync(new OperatorDecision(by, Reason: null), default, _stopping.Token);
        }
        catch (Exception ex) when (ex is ConfigurationRefusedException or EsbException or OperationCanceledException)
        {
            // The desk has reported the refusal.
        }
    }
}
