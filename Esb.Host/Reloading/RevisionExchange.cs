using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Planning;
using Esb.Core.Topics;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;

namespace Esb.Host.Reloading;

/// <summary>A configuration that was read again, beside the one in service.</summary>
/// <param name="Before">What runs.</param>
/// <param name="After">What was read.</param>
/// <param name="Changes">What is different.</param>
/// <param name="Next">The revision that is ready; null where nothing is different.</param>
internal sealed record PreparedExchange(BusModel Before, BusModel After, RevisionChanges Changes, Revision? Next)
{
    /// <summary>The name of what runs.</summary>
    public string Running => Before.Revision;

    /// <summary>The name of what was read.</summary>
    public string Wanted => After.Revision;
}

/// <summary>Leads the parts of this host from one revision to the next. One exchange at a time, which the caller sees to.</summary>
internal sealed partial class RevisionExchange(
    ConfigurationSource source,
    LiveRevisions revisions,
    Live<BusModel> live,
    IServiceProvider services,
    IEnumerable<ConfigSection> sections,
    IEnumerable<FixedSettings> fixedSettings,
    TransportConfig transport,
    TimeProvider time,
    ILogger<RevisionExchange> logger) : IDisposable
{
    private const int MostAlive = 8;

    private static readonly TimeSpan LongestPrepare = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);

    private readonly CancellationTokenSource _abandoning = new();
    private readonly Lock _gate = new();
    private readonly List<Task> _leaving = [];

    /// <summary>The refusal of what may be tried again.</summary>
    public static EsbException Busy(string reason) =>
        new("ESB-CONFIG-BUSY", $"{reason} Try again later.", FaultKind.Unavailable) { Status = StatusCodes.Status409Conflict };

    /// <summary>Reads the configuration again, compiles it and has it ready.</summary>
    /// <param name="migrates">Whether what waits will be moved before it is put in service.</param>
    /// <param name="cancellationToken">Stops, and undoes what was done.</param>
    /// <exception cref="ConfigurationRefusedException">With every error; nothing is left of it.</exception>
    /// <exception cref="EsbException"><c>ESB-CONFIG-BUSY</c>: work of too many revisions is under way, or a part took too long.</exception>
    public async Task<PreparedExchange> PrepareAsync(bool migrates, CancellationToken cancellationToken)
    {
        var before = live.Current;
        var after = source.Compile();
        var changes = new RevisionChanges(before, after, sections, fixedSettings);
        if (!changes.Any) return new PreparedExchange(before, after, changes, Next: null);
        var errors = new ConfigErrors();
        changes.Refuse(errors, mayMigrate: transport.SpansHosts, migrates);
        if (errors.Any) throw new ConfigurationRefusedException(errors.All) { Revision = after.Revision };
        await WaitForRoomAsync(cancellationToken);
        var prepared = new PreparedExchange(before, after, changes, revisions.Add(after));
        try
        {
            await PrepareAsync(prepared, migrates, cancellationToken);
            return prepared;
        }
        catch
        {
            await AbandonAsync(prepared);
            throw;
        }
    }

    /// <summary>Makes the queues and tables that what was prepared wants, and moves what waits; the hosts of the farm let go of it
    /// meanwhile.</summary>
    /// <exception cref="EsbException">Not, or not all of it, was moved; called again it goes on.</exception>
    public async Task MigrateAsync(PreparedExchange prepared, CancellationToken cancellationToken)
    {
        if (prepared.Next is not { } next) return;
        foreach (var planner in next.Services.GetServices<IChangePlanner>()) await planner.ApplyAsync(line => LogMigration(line), cancellationToken);
    }

    /// <summary>Undoes what was prepared.</summary>
    public async Task AbandonAsync(PreparedExchange prepared)
    {
        if (prepared.Next is not { } next) return;
        foreach (var part in InOrder()) await part.AbandonAsync();
        await revisions.RemoveAsync(next);
    }

    /// <summary>Puts what was prepared in service. From here on nothing turns back.</summary>
    public async Task CommitAsync(PreparedExchange prepared)
    {
        if (prepared.Next is not { } next) return;
        var inOrder = InOrder();
        foreach (var part in inOrder) await TryAsync(part, () => part.WelcomeAsync(next, _abandoning.Token));
        var (old, leftovers) = (revisions.Current, new Leftovers());
        revisions.Exchange(next);
        foreach (var part in inOrder) await TryAsync(part, () => part.ExchangeAsync(next, leftovers, _abandoning.Token));
        lock (_gate)
        {
            _leaving.RemoveAll(task => task.IsCompleted);
            _leaving.Add(LetGoAsync(old, leftovers));
        }
    }

    /// <summary>Ends the work of earlier revisions: the time to stop the host is up.</summary>
    public void Abandon() => _abandoning.Cancel();

    /// <summary>Waits until nothing of earlier revisions is under way.</summary>
    public Task WaitForLeftoversAsync(CancellationToken cancellationToken)
    {
        lock (_gate) return Task.WhenAll(_leaving).WaitAsync(cancellationToken);
    }

    public void Dispose() => _abandoning.Dispose();

    private async Task WaitForRoomAsync(CancellationToken cancellationToken)
    {
        for (var began = time.GetTimestamp(); revisions.Alive >= MostAlive; await Task.Delay(Look, time, cancellationToken))
        {
            if (time.GetElapsedTime(began) >= LongestWait) throw Busy($"Work of {MostAlive} revisions is under way.");
        }
    }

    private async Task PrepareAsync(PreparedExchange prepared, bool migrates, CancellationToken cancellationToken)
    {
        var errors = new ConfigErrors();
        using var limit = new CancellationTokenSource(LongestPrepare, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            foreach (var part in InOrder()) await part.PrepareAsync(prepared.Next!, errors, either.Token);
            await new OutsideChanges(revisions.Current, prepared.Next!).RefuseAsync(errors, migrates, either.Token);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested)
        {
            throw Busy($"It could not be prepared within {LongestPrepare.TotalSeconds:0} s.");
        }

        if (errors.Any) throw new ConfigurationRefusedException(errors.All) { Revision = prepared.Wanted };
    }

    // As at a start: the others go on all the same.
    private async Task TryAsync(IRevisionPart part, Func<Task> act)
    {
        try
        {
            await act();
        }
        catch (Exception ex)
        {
            LogPartFailed(ex, part.GetType().Name);
        }
    }

    private async Task LetGoAsync(Revision old, Leftovers leftovers)
    {
        try
        {
            await leftovers.LetGoAsync();
        }
        catch (Exception ex)
        {
            LogLeftoversFailed(ex);
        }

        await revisions.RemoveAsync(old);
    }

    private List<IRevisionPart> InOrder()
    {
        var started = StartOrder.Of(services.GetServices<IBusPart>()).ToList(); // which start what asks for this desk
        return [.. services.GetServices<IRevisionPart>().OrderBy(part => part is IBusPart busPart ? started.IndexOf(busPart) : -1)];
    }

    [LoggerMessage(EventId = 5032, Level = LogLevel.Error,
        Message = "{Part} failed to switch to the new revision; the other parts switched")]
    private partial void LogPartFailed(Exception exception, string part);

    [LoggerMessage(EventId = 5038, Level = LogLevel.Information, Message = "Migration: {Step}")]
    private partial void LogMigration(string step);

    [LoggerMessage(EventId = 5033, Level = LogLevel.Error, Message = "Not all of the old revision could be let go of")]
    private partial void LogLeftoversFailed(Exception exception);
}
