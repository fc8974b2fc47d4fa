using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps.Holding;

/// <summary>What steps that hold messages have in common.</summary>
internal static class HoldingSteps
{
    /// <summary>Refuses a step that only processes have.</summary>
    public static void RefuseInWorkflow(StepConfig step, string instead, IStepCompiler compiler)
    {
        if (compiler.IsWorkflow)
            compiler.Errors.Add(
                "ESB-WFL-PLACE",
                step.Path,
                $"the step {step.Kind} is one of processes; expected {instead} in a workflow",
                step.Origin
            );
    }

    /// <summary>The order key of what continues behind the step.</summary>
    /// <param name="line">Its key at the step; empty where the step has none.</param>
    /// <param name="step">The step.</param>
    public static string OrderKeyOf(string line, StepConfig step) => line.Length == 0 ? step.Place : line;

    /// <summary>The key of a message; empty where the step has none.</summary>
    /// <exception cref="EsbException"><c>ESB-HOLD-KEY</c>: the message has no key.</exception>
    public static string KeyOf(IMessageValue? key, MessageContext context, StepConfig step)
    {
        if (key is null)
            return "";
        var text = MessageValues.AsText(key.Evaluate(context));
        return string.IsNullOrEmpty(text)
            ? throw new EsbException("ESB-HOLD-KEY", $"The message has no value for the key of the step {step.Place}.", FaultKind.Invalid)
            : text;
    }
}
