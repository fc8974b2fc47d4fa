using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Settings of the step <c>scope</c>.</summary>
internal sealed record ScopeConfig : SettingsRecord
{
    [Setting(
        "The connection on which the steps run in one transaction, with their result: a crash does not repeat them.",
        Reference = "connections"
    )]
    public string? Transaction { get; init; }

    [Setting("The steps of the scope.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }

    [Setting("The branches for failures; the first that catches the code runs, after the completed scopes inside were undone.")]
    public IReadOnlyList<CatchConfig> Catch { get; init; } = [];

    [Setting(
        "The steps that undo the scope after it has completed, where a scope around it fails or an operator compensates the instance."
    )]
    public IReadOnlyList<StepConfig>? Compensate { get; init; }
}

/// <summary>Runs steps that are undone together (pattern: Compensating Transaction).</summary>
internal sealed class ScopeStep : DurableStep<ScopeConfig>
{
    public override string Kind => "scope";

    protected override StepModel CompileDurable(ScopeConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var steps = compiler.Compile(settings.Transaction is null ? settings.Steps : [Transaction(settings, step)]);
        var handlers = settings.Catch.Select(branch => (branch.Codes, Steps: compiler.Compile(branch.Steps))).ToList();
        var compensate = settings.Compensate is null ? null : compiler.Compile(settings.Compensate);
        return Model(
            step,
            $"scope({steps.Description})",
            new ScopeFlow(steps, handlers, compensate),
            isWhole: true,
            new StepTraits { IsTry = true, Catches = [.. settings.Catch.Select(branch => new CaughtCodes(branch, "codes", branch.Codes))] },
            [steps, .. handlers.Select(handler => handler.Steps), .. compensate is null ? Array.Empty<StepListModel>() : [compensate]]
        );
    }

    private static StepConfig Transaction(ScopeConfig settings, StepConfig scope) =>
        new()
        {
            Kind = TransactionScopeStep.Name,
            Settings = new TransactionScopeConfig(settings),
            Path = $"{scope.Path}.transaction",
            Origin = scope.Origin,
        };
}
