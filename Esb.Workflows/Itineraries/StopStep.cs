using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Itineraries;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Itineraries;

/// <summary>Runs a stop of an itinerary; where it fails for good, undoes the stops before it, the last one first (pattern: Compensating
/// Transaction).</summary>
internal sealed class StopStep : StepFactory<StopPlan>
{
    public const string Name = "stop";

    // Stops are compiled in their order, each once; those behind undo it.
    private readonly Dictionary<StopConfig, StepListModel> _compensations = new(ReferenceEqualityComparer.Instance);

    public override string Kind => Name;

    protected override StepModel Compile(StopPlan plan, StepConfig step, IStepCompiler compiler)
    {
        if (plan.Stop.Steps.Count == 0 && plan.Stop.IsSound("steps"))
            compiler.Errors.Add("ESB-CFG-VALUE", plan.Stop, "steps", "expected at least one step");
        var steps = compiler.Compile(plan.Stop.Steps);

        var own = _compensations[plan.Stop] = compiler.Compile(plan.Stop.Compensate);
        (string, StepListModel)[] undo =
        [
            .. plan
                .Before.Select((before, index) => (Name: StopPlan.NameOf(before, index), Stop: before))
                .Where(before => before.Stop.Compensate.Count > 0)
                .Select(before => (before.Name, _compensations[before.Stop]))
                .Reverse(),
        ];
        return new StepModel(step, $"stop({plan.Name}: {steps.Description})")
        {
            Traits = new StepTraits { LeavesFacts = true, ReplacesBody = true },
            Lists = [steps, own],
            Bind = undo.All(one => one.Item2.IsWhole)
                ? services =>
                    new StopRun(
                        plan,
                        steps.Bind(services),
                        [.. undo.Select(one => (one.Item1, one.Item2.Bind(services)))],
                        services.GetRequiredService<ItineraryProgress>(),
                        services.GetRequiredService<IDeadLetterChannel>(),
                        services.GetRequiredService<IAuditTrail>(),
                        services.GetRequiredService<TimeProvider>(),
                        services.GetRequiredService<ILogger<StopRun>>()
                    ).RunAsync
                : null,
        };
    }
}
