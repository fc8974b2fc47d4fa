using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>The endpoints that stand at a message, on whichever host of the farm; and an operator's word to them. Thread-safe.</summary>
internal sealed partial class Standstills(IFarm farm, IEnumerable<IEndpointMonitor> monitors, IEndpointControl control, ILogger<Standstills> logger) : IBusPart
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly List<IDisposable> _answering = [];

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(OutboundEndpoints)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _answering.Add(farm.Answer<ListStandstills, StandstillList>((question, _) => Task.FromResult(new StandstillList(Here(question.Endpoint)))));
        _answering.Add(farm.Answer<MoveOnStandstill, MovedOn>(async (question, token) => new MovedOn(await MoveOnHereAsync(question, token))));
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        foreach (var answering in _answering) answering.Dispose();
        return Task.CompletedTask;
    }

    /// <summary>Those of all hosts; without those of hosts that cannot be asked right now, which is logged.</summary>
    /// <param name="endpoint">Of one endpoint; of all where it is null.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    public async Task<IReadOnlyList<StandingEndpoint>> ListAsync(string? endpoint, CancellationToken cancellationToken)
    {
        var elsewhere = await AskAsync<ListStandstills, StandstillList>(new ListStandstills(endpoint), cancellationToken);
        if (elsewhere.Silent.Count > 0) LogSilent(NamesOf(elsewhere.Silent));
        var all = Here(endpoint).Concat(elsewhere.Answers.SelectMany(answer => answer.Answer.Standing));
        return [.. all.GroupBy(standing => standing.Endpoint).Select(group => group.MaxBy(standing => standing.At.Failure.At)!)]; // a host that was frozen tells what was
    }

    /// <summary>Has the message that an endpoint stands at tried again now, or gives it up.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="messageId">Only where it stands at this one; null for whichever it is.</param>
    /// <param name="discard">Whether to give it up.</param>
    /// <param name="decision">Who wants that, and why.</param>
    /// <param name="cancellationToken">Stops waiting for the other hosts.</param>
    /// <returns>Whether it stood there, on any host.</returns>
    /// <exception cref="EsbException"><c>ESB-FARM-UNAVAILABLE</c>, <c>ESB-FARM-SILENT</c>: not here, and it is not known of every other host.</exception>
    public async Task<bool> MoveOnAsync(string endpoint, Guid? messageId, bool discard, OperatorDecision decision, CancellationToken cancellationToken)
    {
        var question = new MoveOnStandstill(endpoint, messageId, discard, decision);
        if (await MoveOnHereAsync(question, cancellationToken)) return true;
        var elsewhere = await farm.AskOthersAsync<MoveOnStandstill, MovedOn>(question, Patience, cancellationToken);
        if (elsewhere.Answers.Any(answer => answer.Answer.IsDone)) return true;
        if (elsewhere.Silent.Count == 0) return false;
        throw new EsbException(
            "ESB-FARM-SILENT",
            $"'{endpoint}' does not stand at such a message on the hosts that answered, and {NamesOf(elsewhere.Silent)} did not answer: it may stand there. Ask again.",
            FaultKind.Unavailable);
    }

    private async Task<FarmAnswers<TAnswer>> AskAsync<TQuestion, TAnswer>(TQuestion question, CancellationToken cancellationToken)
        where TQuestion : class
        where TAnswer : class
    {
        try
        {
            return await farm.AskOthersAsync<TQuestion, TAnswer>(question, Patience, cancellationToken);
        }
        catch (EsbException ex)
        {
            LogNotAsked(ex.Code, ex.Message); // this host's own are told all the same
            return FarmAnswers<TAnswer>.Nobody;
        }
    }

    private IReadOnlyList<StandingEndpoint> Here(string? endpoint) =>
        [.. monitors.SelectMany(monitor => monitor.Endpoints)
            .Where(status => status.StandsAt is not null && (endpoint is null || status.Name == endpoint))
            .Select(status => new StandingEndpoint(status.Name, status.StandsAt!))];

    private async Task<bool> MoveOnHereAsync(MoveOnStandstill question, CancellationToken cancellationToken)
    {
        var at = Here(question.Endpoint).FirstOrDefault()?.At.MessageId;
        return at is { } message && (question.MessageId ?? message) == message
            && await control.MoveOnAsync(question.Endpoint, message, question.Discard, question.Decision, cancellationToken);
    }

    private static string NamesOf(IEnumerable<FarmHost> hosts) => string.Join(", ", hosts.Select(host => host.Name));

    [LoggerMessage(EventId = 2642, Level = LogLevel.Warning, Message = "What stands still on {Hosts} is not known: no answer came")]
    private partial void LogSilent(string hosts);

    [LoggerMessage(EventId = 2643, Level = LogLevel.Warning, Message = "What stands still on other hosts is not known: {Code}: {Reason}")]
    private partial void LogNotAsked(string code, string reason);
}
