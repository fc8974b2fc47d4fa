using System.Globalization;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Settings of the step <c>parallel</c>.</summary>
internal sealed record ParallelConfig : SettingsRecord
{
    [Setting("The branches by name; each has its own current message, all share the variables.", NamesThings = true)]
    public required IReadOnlyDictionary<string, IReadOnlyList<StepConfig>> Branches { get; init; }

    [Setting("How many branches have to end before the workflow continues: all, any, or a number; the others are cancelled.")]
    public ConfigNode? Join { get; init; }
}

/// <summary>Runs branches that wait side by side.</summary>
internal sealed class ParallelStep : DurableStep<ParallelConfig>
{
    public override string Kind => "parallel";

    protected override StepModel CompileDurable(ParallelConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (settings.Branches.Count == 0 && settings.IsSound("branches"))
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "branches", "expected at least one branch");
        var branches = settings.Branches.Select(branch => (branch.Key, Steps: compiler.Compile(branch.Value))).ToList();
        var join = JoinOf(settings, compiler.Errors);
        return Model(
            step,
            $"parallel({string.Join(", ", settings.Branches.Keys)})",
            new ParallelFlow(branches, join),
            isWhole: true,
            [.. branches.Select(branch => branch.Steps)]
        );
    }

    private static int JoinOf(ParallelConfig settings, ConfigErrors errors)
    {
        var all = settings.Branches.Count;
        switch (settings.Join)
        {
            case null or { Kind: ConfigKind.Text, Text: "all" }:
                return all;
            case { Kind: ConfigKind.Text, Text: "any" }:
                return 1;
            case { Kind: ConfigKind.Number } number
                when int.TryParse(number.Text, NumberStyles.None, CultureInfo.InvariantCulture, out var count)
                    && count >= 1
                    && count <= all:
                return count;
            default:
                errors.Add("ESB-CFG-VALUE", settings, "join", $"expected all, any or a number from 1 to {all}");
                return all;
        }
    }
}
