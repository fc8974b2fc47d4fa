namespace Esb.Core.Processes;

/// <summary>Base of step factories: provides the typed settings.</summary>
/// <typeparam name="TSettings">The settings type registered for the step.</typeparam>
public abstract class StepFactory<TSettings> : IStepFactory
{
    /// <inheritdoc/>
    public abstract string Kind { get; }

    /// <inheritdoc/>
    public StepModel Compile(StepConfig step, IStepCompiler compiler) => Compile((TSettings)step.Settings, step, compiler);

    /// <inheritdoc cref="IStepFactory.Compile"/>
    protected abstract StepModel Compile(TSettings settings, StepConfig step, IStepCompiler compiler);
}
