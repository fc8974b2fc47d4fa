using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Compiling;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>Adds business keys from the current message, by which later messages find the instance (pattern: Correlation
/// Identifier).</summary>
internal sealed class CorrelateStep : DurableStep<IReadOnlyDictionary<string, ValueConfig>>
{
    public override string Kind => "correlate";

    protected override StepModel CompileDurable(IReadOnlyDictionary<string, ValueConfig> settings, StepConfig step, IStepCompiler compiler)
    {
        if (settings.Count == 0)
            compiler.Errors.Add("ESB-CFG-VALUE", step.Path, "expected at least one key", step.Origin);
        var keys = MatchedKeys.Compile(settings, compiler.Expressions, compiler.Errors);
        return Model(step, $"correlate({string.Join(", ", keys.Names)})", new CorrelateFlow(keys), keys.IsWhole);
    }
}
