using Esb.Core.Errors;
using Esb.Core.Parties;
using Esb.Delivery.Intake;
using Esb.Endpoints.Http.Receiving;
using Esb.Endpoints.Http.Wire;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Relays requests to an http-outbound endpoint, bypassing topics and parsers; counts them but keeps no message.</summary>
/// <param name="config">The inbound endpoint.</param>
/// <param name="routes">The routes of the requests.</param>
/// <param name="state">The counters.</param>
internal sealed class RelayExchange(HttpInboundConfig config, RelayRoutes routes, IntakeState state) : IHttpExchange
{
    private readonly AcceptedTypes _accepted = new(config.Accept);

    public bool IsBrief => true;

    public async Task HandleAsync(HttpContext context, CancellationToken aborting)
    {
        var outcome = IntakeOutcomes.Aborted;
        var began = state.Begin();
        try
        {
            HttpContentRules.Require(context, _accepted, config.MaxBodySize?.Bytes);
            var to = await routes.ChooseAsync(context);
            using var lease = await to.Target.Relays.RentAsync(context.RequestAborted);
            await lease.Instance.RelayAsync(context, to.Headers, to.Patience);
            outcome = IntakeOutcomes.Relayed;
        }
        catch (EsbException ex)
        {
            outcome = OutcomeOf(ex);
            throw;
        }
        finally
        {
            var party = context.Features.Get<Party>()?.Name;
            state.End(outcome, party);
            state.Answered(began, outcome, party);
        }
    }

    /// <summary>Maps the failure of a relay to its outcome.</summary>
    public static string OutcomeOf(EsbException failure) =>
        failure.Code == HttpContentRules.Aborted ? IntakeOutcomes.Aborted
        : failure.Kind is FaultKind.Malformed or FaultKind.Invalid or FaultKind.TooLarge ? IntakeOutcomes.Refused
        : IntakeOutcomes.Failed;
}
