using Esb.Core.Errors;
using Esb.Core.Parties;
using Esb.Delivery.Intake;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Relays as <see cref="RelayExchange"/> does, and audits each request and its outcome, before the caller has the end of the
/// answer. A separate class, so that relays without audit pay nothing for it.</summary>
/// <param name="config">The inbound endpoint.</param>
/// <param name="routes">The routes of the requests.</param>
/// <param name="state">The counters.</param>
/// <param name="journal">Records the requests.</param>
internal sealed class AuditedRelayExchange(HttpInboundConfig config, RelayRoutes routes, IntakeState state, RelayJournal journal)
    : IHttpExchange
{
    private readonly AcceptedTypes _accepted = new(config.Accept);

    public async Task HandleAsync(HttpContext context, CancellationToken aborting)
    {
        var record = journal.Open(context);
        var outcome = IntakeOutcomes.Failed;
        var began = state.Begin();
        try
        {
            HttpContentRules.Require(context, _accepted, config.MaxBodySize?.Bytes);
            var to = await routes.ChooseAsync(context, record.Message);
            await record.ReceivedAsync(to.Target.Name);
            await RelayAsync(context, to, record);
            await context.Response.CompleteAsync();
            outcome = IntakeOutcomes.Relayed;
        }
        catch (Exception ex)
        {
            outcome = OutcomeOf(ex, context);
            await record.FailedAsync(outcome, ex);
            throw;
        }
        finally
        {
            var party = context.Features.Get<Party>()?.Name;
            state.End(outcome, party);
            state.Answered(began, outcome, party);
        }
    }

    private static async ValueTask RelayAsync(HttpContext context, RelayTarget to, RelayRecord record)
    {
        using var lease = await to.Target.Relays.RentAsync(context.RequestAborted);
        await lease.Instance.RelayAsync(context, to.Headers, to.Patience, record);
    }

    private static string OutcomeOf(Exception failure, HttpContext context) =>
        failure switch
        {
            EsbException known => RelayExchange.OutcomeOf(known),
            _ when context.RequestAborted.IsCancellationRequested => IntakeOutcomes.Aborted,
            _ => IntakeOutcomes.Failed,
        };
}
