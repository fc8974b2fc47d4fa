using Esb.Core.Itineraries;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Workflows.Processes.Holding;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Itineraries;

/// <summary>Puts the message into the queue of its itinerary before a durable stop: from there any host of the farm continues.</summary>
internal sealed class StopWaitStep : StepFactory<StopPlan>
{
    public const string Name = "stop wait";

    public override string Kind => Name;

    protected override StepModel Compile(StopPlan plan, StepConfig step, IStepCompiler compiler)
    {
        return new StepModel(step, $"wait({plan.Name})")
        {
            Traits = new StepTraits { Holds = true, LeavesFacts = true },
            Bind = services => Run(services.GetRequiredService<Holder>(), services.GetRequiredService<TimeProvider>()),
        };

        MessageStep Run(Holder holder, TimeProvider time) =>
            async (context, cancellationToken) =>
            {
                var key = context.Message.Key ?? context.HeldId.ToString(); // without a key, none waits for another
                var held = await holder.PrepareAsync(context, step.Place, key, key, cancellationToken);
                var message = held.Message with
                {
                    Headers = held.Message.Headers.With(EsbHeaders.Itinerary, plan.SlipOf(EndOf(context, time))),
                };
                var run = new ItineraryRun(message.Id, plan.Itinerary, plan.Name, ItineraryState.Waiting, message.ConversationId);
                var isKnown = await holder.PassAsync(
                    new PassedMessage(held with { Message = message }, HeldQueues.OfItinerary(plan.Itinerary), run)
                );
                await holder.EndAsync(context, plan.Name, "itinerary-waits", isKnown);
            };

        // Of the first durable stop: a message that comes from the queue keeps what its slip says.
        DateTimeOffset? EndOf(MessageContext context, TimeProvider time) =>
            context.Endpoint == HeldQueues.OfItinerary(plan.Itinerary)
                ? StopPlan.EndOf(context.Received.Headers[EsbHeaders.Itinerary])
                : time.GetUtcNow() + plan.Timeout;
    }
}
