using Esb.Core;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Delivery.Outbound;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>The blocked endpoints on all hosts of the farm, and operators' decisions about them. Thread-safe.</summary>
internal sealed partial class Standstills(
    IFarm farm,
    IEnumerable<IEndpointMonitor> monitors,
    IEndpointControl control,
    ILogger<Standstills> logger
) : IBusPart
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly List<IDisposable> _answering = [];

    public BusStage Stage => BusStage.Outbound;

    public IReadOnlyList<Type> StartsAfter => [typeof(OutboundEndpoints)];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _answering.Add(
            farm.Answer<ListStandstills, StandstillList>((question, _) => Task.FromResult(new StandstillList(Here(question.Endpoint))))
        );
        _answering.Add(
            farm.Answer<MoveOnStandstill, MovedOn>(async (question, token) => new MovedOn(await MoveOnHereAsync(question, token)))
        );
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken)
    {
        foreach (var answering in _answering)
            answering.Dispose();
        return Task.CompletedTask;
    }

    /// <summary>Lists the standstills of all hosts, without those of unreachable hosts, which are logged.</summary>
    /// <param name="endpoint">The endpoint; null for all endpoints.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    public async Task<IReadOnlyList<StandingEndpoint>> ListAsync(string? endpoint, CancellationToken cancellationToken)
    {
        var elsewhere = await AskAsync<ListStandstills, StandstillList>(new ListStandstills(endpoint), cancellationToken);
        if (elsewhere.Silent.Count > 0)
            LogSilent(NamesOf(elsewhere.Silent));
        var all = Here(endpoint).Concat(elsewhere.Answers.SelectMany(answer => answer.Answer.Standing));
        // a frozen host may report old state
        return [.. all.GroupBy(standing => standing.Endpoint).Select(group => group.MaxBy(standing => standing.At.Failure.At)!)];
    }

    /// <summary>Retries or discards the message that blocks an endpoint.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="messageId">The message that must block the endpoint; null for any message.</param>
    /// <param name="discard">True to discard the message.</param>
    /// <param name="decision">The operator and the reason.</param>
    /// <param name="cancellationToken">Cancels the wait for the other hosts.</param>
    /// <returns>True if the message blocked the endpoint on any host.</returns>
    /// <exception cref="EsbException"><c>ESB-FARM-UNAVAILABLE</c>, <c>ESB-FARM-SILENT</c>: not blocked on this host, and not every other
    /// host answered.</exception>
    public async Task<bool> MoveOnAsync(
        string endpoint,
        Guid? messageId,
        bool discard,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        var question = new MoveOnStandstill(endpoint, messageId, discard, decision);
        if (await MoveOnHereAsync(question, cancellationToken))
            return true;
        var elsewhere = await farm.AskOthersAsync<MoveOnStandstill, MovedOn>(question, Patience, cancellationToken);
        if (elsewhere.Answers.Any(answer => answer.Answer.IsDone))
            return true;
        if (elsewhere.Silent.Count == 0)
            return false;
        throw new EsbException(
            "ESB-FARM-SILENT",
            $"'{endpoint}' does not stand at such a message on the hosts that answered, and {NamesOf(elsewhere.Silent)} did not "
                + $"answer: it may stand there. Ask again.",
            FaultKind.Unavailable
        );
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
            LogNotAsked(ex.Code, ex.Message); // the standstills of this host are listed regardless
            return FarmAnswers<TAnswer>.Nobody;
        }
    }

    private IReadOnlyList<StandingEndpoint> Here(string? endpoint) =>
        [
            .. monitors
                .SelectMany(monitor => monitor.Endpoints)
                .Where(status => status.StandsAt is not null && (endpoint is null || status.Name == endpoint))
                .Select(status => new StandingEndpoint(status.Name, status.StandsAt!)),
        ];

    private async Task<bool> MoveOnHereAsync(MoveOnStandstill question, CancellationToken cancellationToken)
    {
        var at = Here(question.Endpoint).FirstOrDefault()?.At.MessageId;
        return at is { } message
            && (question.MessageId ?? message) == message
            && await control.MoveOnAsync(question.Endpoint, message, question.Discard, question.Decision, cancellationToken);
    }

    private static string NamesOf(IEnumerable<FarmHost> hosts) => string.Join(", ", hosts.Select(host => host.Name));

    [LoggerMessage(EventId = 2642, Level = LogLevel.Warning, Message = "Stopped endpoints of {Hosts} are unknown: no answer")]
    private partial void LogSilent(string hosts);

    [LoggerMessage(EventId = 2643, Level = LogLevel.Warning, Message = "Stopped endpoints of other hosts are unknown: {Code}: {Reason}")]
    private partial void LogNotAsked(string code, string reason);
}
