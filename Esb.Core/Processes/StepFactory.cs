namespace Esb.Core.Processes;

/// <summary>Base of step factories: knows its settings.</summary>
/// <typeparam name="TSettings">What the step is registered with.</typeparam>
public abstract class StepFactory<TSettings> : IStepFactory
{
    /// <inheritdoc/>
    public abstract string Kind { get; }

    /// <inheritdoc/>
    public StepModel Compile(StepConfig step, IStepCompiler compiler) => Compile((TSettings)step.Settings, step, compiler);

    /// <inheritdoc cref="IStepFactory.Compile"/>
    protected abstract StepModel Compile(TSettings settings, StepConfig step, IStepCompiler compiler);
}
