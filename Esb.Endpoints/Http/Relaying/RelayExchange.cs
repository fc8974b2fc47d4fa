using Esb.Core.Errors;
using Esb.Core.Parties;
using Esb.Endpoints.Intake;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Relaying;

/// <summary>Relays requests to an http-outbound endpoint: past topics and parsers, counted, and without a message being made.</summary>
/// <param name="config">The inbound endpoint.</param>
/// <param name="target">The outside.</param>
/// <param name="headers">What becomes of headers.</param>
/// <param name="patience">How long the outside may be silent.</param>
/// <param name="state">What is counted.</param>
internal sealed class RelayExchange(HttpInboundConfig config, HttpTarget target, RelayHeaders headers, TimeSpan patience, IntakeState state) : IHttpExchange
{
    private readonly AcceptedTypes _accepted = new(config.Accept);

    public async Task HandleAsync(HttpContext context, CancellationToken aborting)
    {
        var outcome = IntakeOutcomes.Aborted;
        var began = state.Begin();
        try
        {
            HttpContentRules.Require(context, _accepted, config.MaxBodySize?.Bytes);
            using var lease = await target.Relays.RentAsync(context.RequestAborted);
            await lease.Instance.RelayAsync(context, headers, patience);
            outcome = IntakeOutcomes.Relayed;
        }
        catch (EsbException ex)
        {
            outcome = ex.Code == HttpContentRules.Aborted ? IntakeOutcomes.Aborted : ex.Kind is FaultKind.Malformed or FaultKind.TooLarge ? IntakeOutcomes.Refused : IntakeOutcomes.Failed;
            throw;
        }
        finally
        {
            var party = context.Features.Get<Party>()?.Name;
            state.End(outcome, party);
            state.Answered(began, outcome, party);
        }
    }
}
