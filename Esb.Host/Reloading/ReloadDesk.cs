using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Host.Reloading;

/// <summary>Activates the current configuration without stopping unchanged parts. A refused configuration leaves everything running as it
/// was. Thread-safe; one reload at a time.</summary>
internal sealed partial class ReloadDesk(
    RevisionExchange exchange,
    Live<BusModel> live,
    OtherHosts others,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<ReloadDesk> logger
) : IHealthNotices, IDisposable
{
    private readonly SemaphoreSlim _turn = new(1, 1);
    private readonly CancellationTokenSource _stopping = new();
    private readonly Lock _gate = new();
    private volatile string? _notice;
    private volatile bool _isOpen;
    private UndecidedReload? _waiting;

    public IEnumerable<string> Notices => _notice is { } notice ? [notice] : [];

    /// <summary>Permits reloads, once the host has started.</summary>
    public void Open() => _isOpen = true;

    /// <summary>Reads the configuration again on every host of the farm, and exchanges the changes on all hosts or on none.</summary>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="migrates">True to create replacement queues and tables and to move waiting messages to them.</param>
    /// <param name="cancellationToken">Cancels the wait before the exchange; an exchange in progress is completed.</param>
    /// <exception cref="ConfigurationRefusedException">With every error; the running revision continues.</exception>
    /// <exception cref="EsbException"><c>ESB-CONFIG-BUSY</c>: the host is still starting, another reload is in progress, or too many
    /// earlier revisions have work in progress. <c>ESB-PLAN-BUSY</c>, <c>ESB-PLAN-LENGTH</c>: waiting messages could not be moved
    /// completely; a repeated call continues.</exception>
    public async Task<ReloadResult> ReloadAsync(OperatorDecision decision, bool migrates, CancellationToken cancellationToken)
    {
        await EnterAsync(cancellationToken);
        try
        {
            return await ReloadInTurnAsync(decision, migrates, cancellationToken);
        }
        catch (ConfigurationRefusedException ex)
        {
            Refuse(decision.By, ex);
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
            await EnterAsync(cancellationToken);
        }
        catch (EsbException ex)
        {
            return $"{ex.Code}: {ex.Message}";
        }

        try
        {
            var prepared = await exchange.PrepareAsync(question.Migrates, cancellationToken);
            if (prepared.Wanted != question.Revision)
            {
                await exchange.AbandonAsync(prepared);
                throw Differs(question.Revision, $"its files say revision {prepared.Wanted}, and not {question.Revision}");
            }

            var waiting = new UndecidedReload(question.Id, prepared, question.By, time);
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
    public async Task<bool> DecideAsync(DecideReload decision)
    {
        if (Take(decision.Id) is not { } waiting)
            return false;
        try
        {
            if (!decision.Goes)
                await exchange.AbandonAsync(waiting.Prepared);
            else
                await CommitAsync(waiting.Prepared, waiting.By);
            return decision.Goes;
        }
        finally
        {
            _turn.Release();
        }
    }

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

    private async Task EnterAsync(CancellationToken cancellationToken)
    {
        if (!_isOpen)
            throw RevisionExchange.Busy("The host is still starting.");
        if (!await _turn.WaitAsync(0, cancellationToken))
            throw RevisionExchange.Busy("Another reload is under way.");
    }

    private async Task<ReloadResult> ReloadInTurnAsync(OperatorDecision decision, bool migrates, CancellationToken cancellationToken)
    {
        var prepared = await exchange.PrepareAsync(migrates, cancellationToken);
        if (prepared.Next is null && !others.Any)
        {
            _notice = null;
            ReloadTelemetry.Count("unchanged");
            return new ReloadResult(prepared.Running, prepared.Wanted, [], [AuditFacts.Host]);
        }

        var id = Guid.NewGuid();
        try
        {
            await others.WhileRemindedAsync(
                id,
                async () =>
                {
                    await others.RequireAsync(new PrepareReload(id, prepared.Wanted, decision.By, migrates), cancellationToken);
                    if (migrates)
                        await exchange.MigrateAsync(prepared, cancellationToken);
                }
            );
        }
        catch
        {
            await exchange.AbandonAsync(prepared);
            await others.CallOffAsync(id);
            throw;
        }

        await CommitAsync(prepared, decision.By);
        var (hosts, left) = await others.TellAsync(id);
        if (left.Count > 0)
            Warn(left);
        var result = new ReloadResult(prepared.Running, prepared.Wanted, prepared.Changes.Lines, [AuditFacts.Host, .. hosts]);
        if (prepared.Next is not null)
            await RecordAsync(result, decision);
        return result;
    }

    private void Warn(IReadOnlyCollection<string> left)
    {
        var hosts = string.Join(", ", left);
        LogLeftBehind(hosts);
        _notice = $"ESB-CONFIG-DIFFERS: these hosts do not run revision {live.Current.Revision}, reload again: {hosts}";
    }

    private async Task CommitAsync(PreparedExchange prepared, string by)
    {
        await exchange.CommitAsync(prepared);
        _notice = null;
        ReloadTelemetry.Count(prepared.Next is null ? "unchanged" : "done");
        if (prepared.Next is not null)
            LogDone(prepared.Running, prepared.Wanted, by, prepared.Changes.Lines.Count);
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

    private async Task RecordAsync(ReloadResult result, OperatorDecision decision)
    {
        var fact = AuditFacts.Of(EsbMessage.Create(MessageBody.Empty, time), AuditKind.Recorded, time) with
        {
            Name = "configuration",
            Reason = decision.Reason,
            Fields = new Dictionary<string, string>
            {
                ["operator"] = decision.By,
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
        Message = "Revision {After} is in service, in place of {Before}: reloaded by {By}, {Count} changes"
    )]
    private partial void LogDone(string before, string after, string by, int count);

    [LoggerMessage(
        EventId = 5031,
        Level = LogLevel.Error,
        Message = "The configuration that {By} wanted reloaded is refused; revision {Running} runs on:\n{Errors}"
    )]
    private partial void LogRefused(string running, string by, string errors);

    [LoggerMessage(EventId = 5034, Level = LogLevel.Error, Message = "That the configuration was reloaded could not be recorded")]
    private partial void LogNotRecorded(Exception exception);

    [LoggerMessage(EventId = 5035, Level = LogLevel.Error, Message = "These hosts do not run the new revision, reload again: {Hosts}")]
    private partial void LogLeftBehind(string hosts);
}
