using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Core;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Planning;
using Esb.Core.Topics;
using Esb.Host.Lifecycle;

namespace Esb.Host.Reloading;

/// <summary>A configuration that was read again, prepared beside the active one.</summary>
/// <param name="Before">The running model.</param>
/// <param name="After">The model that was read.</param>
/// <param name="Changes">The differences.</param>
/// <param name="Next">The prepared revision; null if there are no differences.</param>
internal sealed record PreparedExchange(BusModel Before, BusModel After, RevisionChanges Changes, Revision? Next)
{
    /// <summary>The name of what runs.</summary>
    public string Running => Before.Revision;

    /// <summary>The name of what was read.</summary>
    public string Wanted => After.Revision;
}

/// <summary>Moves the parts of this host from one revision to the next. One exchange at a time, which the caller ensures.</summary>
internal sealed partial class RevisionExchange(
    LiveRevisions revisions,
    Live<BusModel> live,
    IServiceProvider services,
    IEnumerable<ConfigSection> sections,
    IEnumerable<FixedSettings> fixedSettings,
    TransportConfig transport,
    TimeProvider time,
    ILogger<RevisionExchange> logger,
    IFarmTuning? tuning = null
) : IDisposable
{
    private const int MostAlive = 8;

    private static readonly TimeSpan LongestPrepare = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);

    private readonly CancellationTokenSource _abandoning = new();
    private readonly Lock _gate = new();
    private readonly List<Task> _leaving = [];

    /// <summary>The error of an exchange that may be retried.</summary>
    public static EsbException Busy(string reason) =>
        new("ESB-CONFIG-BUSY", $"{reason} Try again later.", FaultKind.Unavailable) { Status = StatusCodes.Status409Conflict };

    /// <summary>Prepares the exchange with a configuration that was compiled.</summary>
    /// <param name="after">The configuration.</param>
    /// <param name="means">What the operator has agreed to; waiting messages are moved before the activation.</param>
    /// <param name="cancellationToken">Cancels and undoes the preparation.</param>
    /// <exception cref="ConfigurationRefusedException">With every error; the preparation is undone.</exception>
    /// <exception cref="EsbException"><c>ESB-CONFIG-BUSY</c>: too many revisions have work in progress, or a part exceeded its time
    /// limit.</exception>
    public async Task<PreparedExchange> PrepareAsync(BusModel after, ExchangeMeans means, CancellationToken cancellationToken)
    {
        var before = live.Current;
        var changes = new RevisionChanges(before, after, sections, fixedSettings, tuning?.Tuned);
        if (!changes.Any)
            return new PreparedExchange(before, after, changes, Next: null);
        var errors = new ConfigErrors();
        changes.Refuse(errors, mayMigrate: transport.SpansHosts, means.Migrates);
        if (errors.Any)
            throw new ConfigurationRefusedException(errors.All) { Revision = after.Revision };
        await WaitForRoomAsync(cancellationToken);
        var prepared = new PreparedExchange(before, after, changes, revisions.Add(after));
        try
        {
            await PrepareAsync(prepared, means, cancellationToken);
            return prepared;
        }
        catch
        {
            await AbandonAsync(prepared);
            throw;
        }
    }

    /// <summary>Creates the queues and tables of the prepared revision and moves waiting messages; the hosts of the farm release the queues
    /// meanwhile.</summary>
    /// <exception cref="EsbException">Not all messages were moved; a repeated call continues.</exception>
    public async Task MigrateAsync(PreparedExchange prepared, CancellationToken cancellationToken)
    {
        if (prepared.Next is not { } next)
            return;
        foreach (var planner in next.Services.GetServices<IChangePlanner>())
            await planner.ApplyAsync(line => LogMigration(line), cancellationToken);
    }

    /// <summary>Undoes a preparation.</summary>
    public async Task AbandonAsync(PreparedExchange prepared)
    {
        if (prepared.Next is not { } next)
            return;
        foreach (var part in InOrder())
            await part.AbandonAsync();
        await revisions.RemoveAsync(next);
    }

    /// <summary>Activates the prepared revision. This step cannot be undone.</summary>
    /// <returns>A line for each part that failed to switch.</returns>
    public async Task<IReadOnlyList<string>> CommitAsync(PreparedExchange prepared)
    {
        if (prepared.Next is not { } next)
            return [];
        var (inOrder, failures) = (InOrder(), new List<string>());
        foreach (var part in inOrder)
            await TryAsync(part, () => part.WelcomeAsync(next, _abandoning.Token), failures);
        var (old, leftovers) = (revisions.Current, new Leftovers());
        revisions.Exchange(next);
        foreach (var part in inOrder)
            await TryAsync(part, () => part.ExchangeAsync(next, leftovers, _abandoning.Token), failures);
        lock (_gate)
        {
            _leaving.RemoveAll(task => task.IsCompleted);
            _leaving.Add(LetGoAsync(old, leftovers));
        }

        return failures;
    }

    /// <summary>Aborts the work of earlier revisions when the stop time of the host expires.</summary>
    public void Abandon() => _abandoning.Cancel();

    /// <summary>Waits until the work of earlier revisions has ended.</summary>
    public Task WaitForLeftoversAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
            return Task.WhenAll(_leaving).WaitAsync(cancellationToken);
    }

    public void Dispose() => _abandoning.Dispose();

    private async Task WaitForRoomAsync(CancellationToken cancellationToken)
    {
        for (var began = time.GetTimestamp(); revisions.Alive >= MostAlive; await Task.Delay(Look, time, cancellationToken))
        {
            if (time.GetElapsedTime(began) >= LongestWait)
                throw Busy($"Work of {MostAlive} revisions is under way.");
        }
    }

    private async Task PrepareAsync(PreparedExchange prepared, ExchangeMeans means, CancellationToken cancellationToken)
    {
        var errors = new ConfigErrors();
        using var limit = new CancellationTokenSource(LongestPrepare, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            foreach (var part in InOrder())
                await part.PrepareAsync(prepared.Next!, errors, either.Token);
            await new OutsideChanges(revisions.Current, prepared.Next!).RefuseAsync(errors, means, either.Token);
        }
        catch (OperationCanceledException) when (limit.IsCancellationRequested)
        {
            throw Busy($"It could not be prepared within {LongestPrepare.TotalSeconds:0} s.");
        }

        if (errors.Any)
            throw new ConfigurationRefusedException(errors.All) { Revision = prepared.Wanted };
    }

    // As at start-up: the other parts continue after a failure.
    private async Task TryAsync(IRevisionPart part, Func<Task> act, List<string> failures)
    {
        try
        {
            await act();
        }
        catch (Exception ex)
        {
            LogPartFailed(ex, part.GetType().Name);
            if (ex is not EsbException { Kind: FaultKind.Unavailable })
                failures.Add($"{part.GetType().Name} failed to switch: {ex.Message}");
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
        var started = StartOrder.Of(services.GetServices<IBusPart>()).ToList(); // these start the parts that depend on this desk
        return [.. services.GetServices<IRevisionPart>().OrderBy(part => part is IBusPart busPart ? started.IndexOf(busPart) : -1)];
    }

    [LoggerMessage(
        EventId = 5032,
        Level = LogLevel.Error,
        Message = "{Part} failed to switch to the new revision; the other parts switched"
    )]
    private partial void LogPartFailed(Exception exception, string part);

    [LoggerMessage(EventId = 5038, Level = LogLevel.Information, Message = "Migration: {Step}")]
    private partial void LogMigration(string step);

    [LoggerMessage(EventId = 5033, Level = LogLevel.Error, Message = "Not all parts of the old revision could be released")]
    private partial void LogLeftoversFailed(Exception exception);
}
