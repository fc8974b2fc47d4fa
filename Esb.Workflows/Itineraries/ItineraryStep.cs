using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Itineraries;

/// <summary>Sends the message along an itinerary: a fixed one, or one that conditions or the message choose (pattern: Dynamic
/// Router).</summary>
internal sealed class ItineraryStep(IReadOnlyDictionary<string, ItineraryConfig> itineraries) : StepFactory<ItineraryChoiceConfig>
{
    public const string Name = "itinerary";

    public override string Kind => Name;

    protected override StepModel Compile(ItineraryChoiceConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (compiler.IsWorkflow)
            compiler.Errors.Add(
                "ESB-WFL-PLACE",
                step.Path,
                "the step itinerary is one of processes; expected runWorkflow in a workflow",
                step.Origin
            );
        if (compiler.Process.StartsWith(HeldQueues.ItineraryPrefix, StringComparison.Ordinal))
            compiler.Errors.Add("ESB-HOLD-PLACE", step.Path, "an itinerary inside of another one; expected its stops here", step.Origin);
        if (settings.Value is not null && settings.Allow.Count == 0 && settings.IsSound("allow"))
            compiler.Errors.Add("ESB-CFG-REQUIRED", settings, "allow", "is required: the itineraries that a message may name");
        var value = settings.Value is null ? null : compiler.Expressions.Compile(settings.Value, compiler.Errors);
        var rules = settings
            .Resolve.Select(rule => (Condition: compiler.Expressions.Compile(rule.If, compiler.Errors), rule.Itinerary))
            .ToList();
        var names = settings.All.Where(itineraries.ContainsKey).ToList(); // others are reported as missing
        var isUsable =
            (value is not null || settings.Value is null)
            && rules.All(rule => rule.Condition is not null)
            && settings.All.All(itineraries.ContainsKey);
        return new StepModel(step, settings.Use is null ? $"itinerary({string.Join(" | ", names)})" : $"itinerary({settings.Use})")
        {
            Traits = new StepTraits
            {
                Runs = [.. names.Select(HeldQueues.OfItinerary)],
                Holds = names.Any(name => itineraries[name].IsDurable),
                LeavesFacts = true,
                ReplacesBody = true,
                Values =
                [
                    .. settings.Resolve.SelectMany(rule => rule.If.Values),
                    .. settings.Value is { } named ? [named] : Array.Empty<ValueConfig>(),
                ],
            },
            Bind = isUsable ? Bind : null,
        };

        MessageStep Bind(IServiceProvider services)
        {
            var catalog = services.GetRequiredService<IProcessCatalog>();
            var bound = names.ToDictionary(name => name, name => catalog.Find(HeldQueues.OfItinerary(name)));
            return async (context, cancellationToken) =>
            {
                var chosen = bound[Choose(context)];
                var caller = context.Process;
                try
                {
                    await chosen.RunAsync(context, cancellationToken);
                }
                finally
                {
                    context.Process = caller;
                }
            };
        }

        string Choose(MessageContext context)
        {
            if (settings.Use is { } only)
                return only;
            foreach (var (condition, itinerary) in rules)
            {
                if (condition!.Holds(context))
                    return itinerary;
            }

            if (value is not null && MessageValues.AsText(value.Evaluate(context)) is { } name && settings.Allow.Contains(name))
                return name;
            return settings.Otherwise
                ?? throw new EsbException(
                    "ESB-ITIN-NONE",
                    $"The step {step.Place} finds no itinerary for the message, and has no otherwise.",
                    FaultKind.Invalid
                );
        }
    }
}
