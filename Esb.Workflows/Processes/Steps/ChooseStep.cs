using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Processes.Steps;

/// <summary>A branch of a choice.</summary>
internal sealed record WhenConfig : SettingsRecord
{
    [Setting("The condition.")]
    public required ConditionConfig If { get; init; }

    [Setting("The steps that run when it holds.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }
}

/// <summary>Settings of the step <c>choose</c>.</summary>
internal sealed record ChooseConfig : SettingsRecord
{
    [Setting("The branches, tried in this order.")]
    public required IReadOnlyList<WhenConfig> When { get; init; }

    [Setting("The steps that run when no branch's condition holds.")]
    public IReadOnlyList<StepConfig> Otherwise { get; init; } = [];
}

/// <summary>Runs the first branch whose condition holds (pattern: Content-Based Router).</summary>
internal sealed class ChooseStep : StepFactory<ChooseConfig>
{
    public override string Kind => "choose";

    protected override StepModel Compile(ChooseConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (settings.When.Count == 0 && settings.IsSound("when"))
            compiler.Errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "when",
                "expected at least one branch; without a condition the steps need no choice"
            );
        var branches = settings
            .When.Select(branch =>
                (Condition: compiler.Expressions.Compile(branch.If, compiler.Errors), Steps: compiler.Compile(branch.Steps))
            )
            .ToArray();
        var otherwise = compiler.Compile(settings.Otherwise);
        return new StepModel(step, Describe(branches.Length, settings.Otherwise.Count > 0))
        {
            Traits = new StepTraits
            {
                Streams = true,
                Branches = true,
                Values = [.. settings.When.SelectMany(branch => branch.If.Values)],
            },
            Lists = [.. branches.Select(branch => branch.Steps), otherwise],
            Flow = new ChooseFlow([.. branches], otherwise),
            Bind = branches.Any(branch => branch.Condition is null)
                ? null
                : services =>
                    Run(
                        [.. branches.Select(branch => new Choice(branch.Condition!, branch.Steps.Bind(services)))],
                        otherwise.Bind(services)
                    ),
        };

        static MessageStep Run(Choice[] choices, MessageStep otherwise) =>
            (context, cancellationToken) =>
            {
                foreach (var choice in choices)
                {
                    if (choice.Condition.Holds(context))
                        return choice.Steps(context, cancellationToken);
                }

                return otherwise(context, cancellationToken);
            };
    }

    private static string Describe(int branches, bool hasOtherwise) =>
        hasOtherwise ? $"choose({branches}, otherwise)" : $"choose({branches})";

    private sealed record Choice(IMessageCondition Condition, MessageStep Steps);
}
