using Esb.Core.Expressions;

namespace Esb.Core.Processes;

/// <summary>Base of step factories: knows its settings.</summary>
/// <typeparam name="TSettings">What the step is registered with.</typeparam>
public abstract class StepFactory<TSettings> : IStepFactory
{
    /// <inheritdoc/>
    public abstract string Kind { get; }

    /// <inheritdoc/>
    public CompiledStep? Compile(StepConfig step, IStepCompiler compiler) => Compile((TSettings)step.Settings, step, compiler);

    /// <inheritdoc cref="IStepFactory.Compile"/>
    protected abstract CompiledStep? Compile(TSettings settings, StepConfig step, IStepCompiler compiler);
}

/// <summary>Settings of steps that hold other steps, so that a whole process can be looked through.</summary>
public interface IHoldsSteps
{
    /// <summary>The lists of steps that it holds.</summary>
    IEnumerable<IReadOnlyList<StepConfig>> Lists { get; }
}

/// <summary>Settings of steps that take values out of the message before they work on it.</summary>
public interface ITakesValues
{
    /// <summary>The values, those of conditions included.</summary>
    IEnumerable<IValueSource> Values { get; }
}

/// <summary>Settings of steps that begin a transaction, so that the outbox of its database is looked after.</summary>
public interface IBeginsTransaction
{
    /// <summary>The database, one of the connections.</summary>
    string Connection { get; }
}

/// <summary>Settings of steps that call an outbound endpoint without a topic, on the host that runs the process.</summary>
public interface ICallsEndpoint
{
    /// <summary>The endpoint's name.</summary>
    string Endpoint { get; }
}

/// <summary>Settings of steps whose work leaves audit facts by itself, so that none says that they went well.</summary>
public interface ILeavesFacts;

/// <summary>Settings of steps that make another message of the one they find.</summary>
public interface ITransforms;

/// <summary>Looks through processes.</summary>
public static class StepTree
{
    /// <summary>The steps and all steps that they hold.</summary>
    public static IEnumerable<StepConfig> Descend(IEnumerable<StepConfig> steps) =>
        steps.SelectMany(step => step.Settings is IHoldsSteps holder ? holder.Lists.SelectMany(Descend).Prepend(step) : [step]);
}
