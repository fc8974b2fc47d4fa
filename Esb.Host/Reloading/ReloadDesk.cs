using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Host.Versions;

namespace Esb.Host.Reloading;

/// <summary>Puts another configuration into service without stopping unchanged parts. A refused configuration leaves everything running as
/// it was. Thread-safe; one exchange at a time.</summary>
internal sealed partial class ReloadDesk(
    RevisionExchange exchange,
    Live<BusModel> live,
    OtherHosts others,
    VersionReader reader,
    VersionLedger ledger,
    LateStarts starts,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<ReloadDesk> logger
) : IHealthNotices, IDisposable
{
    private static readonly TimeSpan LongestLook = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LongestTurn = TimeSpan.FromSeconds(5);

    private readonly SemaphoreSlim _turn = new(1, 1);
    private readonly CancellationTokenSource _stopping = new();
    private readonly Lock _gate = new();
    private volatile string? _notice;
    private volatile bool _isOpen;
    private volatile ReadConfiguration? _running;
    private volatile ReadConfiguration? _previous;
    private UndecidedReload? _waiting;

    public IEnumerable<string> Notices => _notice is { } notice ? [notice] : [];

    /// <summary>What runs, as it was read.</summary>
    public ReadConfiguration Running => _running ??= reader.StartOf(live.Current);

    /// <summary>Permits exchanges, once the host has started.</summary>
    public void Open() => _isOpen = true;

    /// <summary>Notes the number and the content of what runs, unless something else runs meanwhile.</summary>
    public void Know(ReadConfiguration running, long? number)
    {
        if (Running.Model == running.Model)
            _running = running with { Number = number };
    }

    /// <summary>Reads the configuration again on every host of the farm, and exchanges the changes on all hosts or on none.</summary>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="means">What the operator has agreed to.</param>
    /// <param name="cancellationToken">Cancels the wait before the exchange; an exchange in progress is completed.</param>
    /// <inheritdoc cref="ExchangeAsync"/>
    public Task<ReloadResult> ReloadAsync(OperatorDecision decision, ExchangeMeans means, CancellationToken cancellationToken) =>
        ExchangeAsync(new ExchangeOrder(ExchangeOrder.Reload, decision, reader.ReadAsync) { Means = means }, cancellationToken);

    /// <summary>Puts another configuration into service on every host of the farm, or on none.</summary>
    /// <param name="order">What it is, and for whom.</param>
    /// <param name="cancellationToken">Cancels the wait before the exchange; an exchange in progress is completed.</param>
    /// <exception cref="ConfigurationRefusedException">With every error; the running revision continues, or runs again where an endpoint
    /// could not start with the new one (<c>ESB-CONFIG-ROLLEDBACK</c>).</exception>
    /// <exception cref="EsbException"><c>ESB-CONFIG-BUSY</c>: the host is still starting, another reload is in progress, or too many
    /// earlier revisions have work in progress. <c>ESB-CONFIG-CONFLICT</c>: another version came first. <c>ESB-PLAN-BUSY</c>,
    /// <c>ESB-PLAN-LENGTH</c>: waiting messages could not be moved completely; a repeated call continues.</exception>
    public async Task<ReloadResult> ExchangeAsync(ExchangeOrder order, CancellationToken cancellationToken)
    {
        await EnterAsync(TimeSpan.Zero, cancellationToken);
        try
        {
            return await ExchangeInTurnAsync(order, cancellationToken);
        }
        catch (ConfigurationRefusedException ex)
        {
            Refuse(order.Decision.By, ex);
            throw;
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Prepares an exchange that another host of the farm requests, and waits for its decision.</summary>
    /// <returns>The reason for a refusal; null if the exchange is prepared.</returns>
    public async Task<string?> PrepareAsync(PrepareReload question, CancellationToken cancellationToken)
    {
        try
        {
            await EnterAsync(LongestTurn, cancellationToken); // its own exchange may be about to be refused in favour of this one
        }
        catch (EsbException ex)
        {
            return $"{ex.Code}: {ex.Message}";
        }

        try
        {
            var read = await reader.FindAsync(question, Running, _previous, cancellationToken);
            var wanted = read.Model.Revision;
            if (wanted != question.Revision)
                throw Differs(question.Revision, $"its files say revision {wanted}, and not {question.Revision}");
            var prepared = await exchange.PrepareAsync(read.Model, question.Means, cancellationToken);
            var waiting = new UndecidedReload(question, read, prepared, time);
            lock (_gate)
                _waiting = waiting;
            _ = GiveUpAsync(waiting);
            return null;
        }
        catch (ConfigurationRefusedException ex)
        {
            Refuse(question.By, ex);
            _turn.Release();
            return string.Join("; ", ex.Errors.Select(error => $"{error.Code} {error.Describe()}"));
        }
        catch (EsbException ex)
        {
            _turn.Release();
            return $"{ex.Code}: {ex.Message}";
        }
        catch
        {
            _turn.Release();
            throw;
        }
    }

    /// <summary>Extends the wait for the decision about a prepared exchange.</summary>
    public void Await(AwaitReload reminder)
    {
        lock (_gate)
        {
            if (_waiting?.Id == reminder.Id)
                _waiting.Hear();
        }
    }

    /// <summary>Carries out the decision about a prepared exchange; does nothing if none is prepared.</summary>
    public async Task<ReloadDecided> DecideAsync(DecideReload decision)
    {
        if (Take(decision.Id) is not { } waiting)
            return new ReloadDecided(false);
        try
        {
            if (decision.Goes)
                return new ReloadDecided(true) { Failures = await CommitAsync(waiting) };
            await exchange.AbandonAsync(waiting.Prepared);
            return new ReloadDecided(false);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Progress of the endpoints that an exchange has changed here; known for the last exchange only.</summary>
    public StartsKnown StartsOf(Guid exchange) => starts.Of(exchange);

    /// <summary>Starts no further exchange, and waits for the current one and for the work of earlier revisions; a cancelled token ends
    /// that work.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await using var abandon = cancellationToken.Register(exchange.Abandon);
        await _turn.WaitAsync(cancellationToken); // never released
        await exchange.WaitForLeftoversAsync(cancellationToken);
    }

    public void Dispose()
    {
        _turn.Dispose();
        _stopping.Dispose();
    }

    private static ConfigurationRefusedException Differs(string revision, string reason) =>
        new([OtherHosts.Differs(AuditFacts.Host, reason)]) { Revision = revision };

    private async Task EnterAsync(TimeSpan limit, CancellationToken cancellationToken)
    {
        if (!_isOpen)
            throw RevisionExchange.Busy("The host is still starting.");
        if (!await _turn.WaitAsync(limit, cancellationToken))
            throw RevisionExchange.Busy("Another reload is under way.");
    }

    private async Task<ReloadResult> ExchangeInTurnAsync(ExchangeOrder order, CancellationToken cancellationToken)
    {
        var read = await order.Read(cancellationToken);
        var prepared = await exchange.PrepareAsync(read.Model, order.Means, cancellationToken);
        if (prepared.Next is null && (order.IsLocal || !others.Any))
        {
            _notice = null;
            if (order.IsLocal)
                await HoldAsync(read);
            ReloadTelemetry.Count("unchanged");
            return new ReloadResult(prepared.Running, prepared.Wanted, [], [others.Self]) { Version = Running.Number };
        }

        var id = Guid.NewGuid();
        try
        {
            await others.WhileRemindedAsync(id, async () => read = await AgreeAsync(id, order, read, prepared, cancellationToken));
        }
        catch
        {
            await exchange.AbandonAsync(prepared);
            if (!order.IsLocal)
            {
                await others.CallOffAsync(id);
                await ledger.WithdrawAsync(id);
            }

            throw;
        }

        var before = Running;
        var failures = await CommitAsync(id, read, prepared, order.Kind, order.Decision.By);
        if (order.IsLocal)
            return new ReloadResult(prepared.Running, prepared.Wanted, prepared.Changes.Lines, [others.Self]) { Version = read.Number };
        var (hosts, left, theirs) = await others.TellAsync(id);
        if (left.Count > 0)
            Warn(left);
        var result = new ReloadResult(prepared.Running, prepared.Wanted, prepared.Changes.Lines, [others.Self, .. hosts])
        {
            Version = read.Number,
        };
        if (prepared.Next is not null)
            await RecordAsync(result, order);
        if (!order.IsRevocable || prepared.Next is null)
            return result;
        failures = [.. failures, .. theirs];
        if (failures.Count == 0)
            failures = await starts.AwaitAsync(id, _stopping.Token);
        return failures.Count == 0 ? result : throw await RollBackAsync(before, prepared.Wanted, failures);
    }

    // After this, all hosts run it: those that do not hear of the decision find it in the store.
    private async Task<ReadConfiguration> AgreeAsync(
        Guid id,
        ExchangeOrder order,
        ReadConfiguration read,
        PreparedExchange prepared,
        CancellationToken cancellationToken
    )
    {
        if (order.IsLocal)
            return read;
        var isNew = prepared.Next is not null;
        if (isNew)
            read = await ledger.ProposeAsync(id, order, read, prepared.Changes.Lines, cancellationToken);
        else
            read = Running;
        await others.RequireAsync(
            new PrepareReload(id, prepared.Wanted, order.Decision.By, order.Means.Migrates)
            {
                Kind = order.Kind,
                Suspends = order.Means.Suspends,
                Version = ledger.IsShared ? read.Number : null,
            },
            cancellationToken
        );
        if (order.Means.Migrates)
            await exchange.MigrateAsync(prepared, cancellationToken);
        if (isNew)
            await ledger.AcceptAsync(read.Number, id);
        return read;
    }

    private async Task<ConfigurationRefusedException> RollBackAsync(
        ReadConfiguration before,
        string refused,
        IReadOnlyList<string> failures
    )
    {
        var reason = $"revision {refused}: {string.Join("; ", failures)}";
        var order = new ExchangeOrder(
            ExchangeOrder.AutomaticRollback,
            new OperatorDecision("esb", reason),
            _ => Task.FromResult(before with { Number = null })
        )
        {
            Means = new ExchangeMeans(Migrates: false, Suspends: true), // what ran a moment ago runs again in any case
        };
        try
        {
            await ExchangeInTurnAsync(order, _stopping.Token);
        }
        catch (Exception ex) when (ex is ConfigurationRefusedException or EsbException)
        {
            LogNotRolledBack(ex, refused);
            failures = [.. failures, $"revision {before.Model.Revision} could not be put into service again: {ex.Message}"];
        }

        return new ConfigurationRefusedException([.. failures.Select(failure => StartFailures.RolledBack($"revision {refused}", failure))])
        {
            Revision = refused,
        };
    }

    private void Warn(IReadOnlyCollection<string> left)
    {
        var hosts = string.Join(", ", left);
        LogLeftBehind(hosts);
        _notice = $"ESB-CONFIG-DIFFERS: these hosts do not run revision {live.Current.Revision}, reload again: {hosts}";
    }

    private Task<IReadOnlyList<string>> CommitAsync(UndecidedReload waiting) =>
        CommitAsync(waiting.Id, waiting.Read, waiting.Prepared, waiting.Kind, waiting.By);

    private async Task<IReadOnlyList<string>> CommitAsync(
        Guid id,
        ReadConfiguration read,
        PreparedExchange prepared,
        string kind,
        string by
    )
    {
        starts.Begin(id, prepared);
        var began = time.GetTimestamp();
        var parts = await exchange.CommitAsync(prepared);
        var took = (long)time.GetElapsedTime(began).TotalMilliseconds;
        _previous = Running;
        await HoldAsync(read);
        _notice =
            kind == ExchangeOrder.Rollback && !reader.IsStore
                ? $"ESB-CONFIG-ROLLEDBACK: revision {prepared.Wanted} was put into service by {by}, until the files of the configuration "
                    + "change, or are reloaded"
                : null;
        ReloadTelemetry.Count(prepared.Next is null ? "unchanged" : "done");
        if (prepared.Next is not null)
            LogDone(prepared.Running, prepared.Wanted, kind, by, prepared.Changes.Lines.Count, took);
        return starts.Now(prepared, parts);
    }

    private async Task HoldAsync(ReadConfiguration read)
    {
        _running = read;
        try
        {
            await reader.NoteAsync(read, CancellationToken.None);
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException or EsbException)
        {
            LogNotNoted(ex); // the store has it
        }
    }

    private UndecidedReload? Take(Guid id)
    {
        lock (_gate)
        {
            if (_waiting?.Id != id)
                return null;
            var waiting = _waiting;
            _waiting = null;
            return waiting;
        }
    }

    // The requesting host may have died in between.
    private async Task GiveUpAsync(UndecidedReload waiting)
    {
        await waiting.WaitForSilenceAsync(_stopping.Token);
        if (Take(waiting.Id) is null)
            return;
        // The proposal of a leader that died would stand in the way of the next. One that moves messages is left to finish.
        if (ledger.IsShared && !waiting.Migrates && !_stopping.IsCancellationRequested)
            await ledger.WithdrawAsync(waiting.Id); // unless it is accepted
        if (ledger.IsShared && await ledger.WasAcceptedAsync(waiting.Id, LongestLook))
        {
            await CommitAsync(waiting);
            _turn.Release();
            return;
        }

        await exchange.AbandonAsync(waiting.Prepared);
        var undecided =
            $"no decision about it came within {UndecidedReload.LongestSilence.TotalSeconds:0} s; another host may run it: reload again";
        Refuse(waiting.By, Differs(waiting.Prepared.Wanted, undecided));
        _turn.Release();
    }

    private void Refuse(string by, ConfigurationRefusedException refusal)
    {
        ReloadTelemetry.Count("refused");
        var running = live.Current.Revision;
        var refused = refusal.Revision ?? "of an unreadable file";
        _notice =
            $"{refusal.Errors[0].Code}: revision {refused} was refused with {refusal.Errors.Count} errors; revision {running} runs on";
        LogRefused(running, by, string.Join(Environment.NewLine, refusal.Errors));
    }

    private async Task RecordAsync(ReloadResult result, ExchangeOrder order)
    {
        var fact = AuditFacts.Of(EsbMessage.Create(MessageBody.Empty, time), AuditKind.Recorded, time) with
        {
            Name = "configuration",
            Reason = order.Decision.Reason,
            Fields = new Dictionary<string, string>
            {
                ["operator"] = order.Decision.By,
                ["kind"] = order.Kind,
                ["version"] = result.Version is { } version ? $"{version}" : "",
                ["before"] = result.Before,
                ["after"] = result.After,
                ["changes"] = string.Join("; ", result.Changes),
            },
        };
        try
        {
            await audit.RecordAsync(fact, CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogNotRecorded(ex); // the reload itself has succeeded
        }
    }

    [LoggerMessage(
        EventId = 5030,
        Level = LogLevel.Information,
        Message = "Revision {After} is in service, in place of {Before}: {Kind} by {By}, {Count} changes, exchanged in {Milliseconds} ms"
    )]
    private partial void LogDone(string before, string after, string kind, string by, int count, long milliseconds);

    [LoggerMessage(
        EventId = 5031,
        Level = LogLevel.Error,
        Message = "The configuration that {By} wanted reloaded is refused; revision {Running} runs on:\n{Errors}"
    )]
    private partial void LogRefused(string running, string by, string errors);

    [LoggerMessage(EventId = 5034, Level = LogLevel.Error, Message = "The reload of the configuration could not be recorded")]
    private partial void LogNotRecorded(Exception exception);

    [LoggerMessage(EventId = 5035, Level = LogLevel.Error, Message = "These hosts do not run the new revision, reload again: {Hosts}")]
    private partial void LogLeftBehind(string hosts);

    [LoggerMessage(EventId = 5043, Level = LogLevel.Error, Message = "Revision {Revision} could not be put out of service again")]
    private partial void LogNotRolledBack(Exception exception, string revision);

    [LoggerMessage(EventId = 5044, Level = LogLevel.Warning, Message = "The version that runs could not be kept in the folder of the host")]
    private partial void LogNotNoted(Exception exception);
}
