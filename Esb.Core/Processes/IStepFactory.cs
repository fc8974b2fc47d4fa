using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Core.Processes;

/// <summary>A compiled step, or several in a row. Thread-safe: one delegate serves all messages.</summary>
public delegate ValueTask MessageStep(MessageContext context, CancellationToken cancellationToken);

/// <summary>A step and how it is shown at start and by <c>esb explain</c>.</summary>
/// <param name="Run">Works on a message.</param>
/// <param name="Description">In a few words, such as <c>validate(order)</c>.</param>
public sealed record CompiledStep(MessageStep Run, string Description);

/// <summary>Compiles the steps of one kind.</summary>
public interface IStepFactory
{
    /// <summary>The step's name in the configuration.</summary>
    string Kind { get; }

    /// <summary>Compiles a step with its children; errors are collected by the compiler, and the result is null then.</summary>
    CompiledStep? Compile(StepConfig step, IStepCompiler compiler);
}

/// <summary>What a factory may ask for while it compiles a step of a process.</summary>
public interface IStepCompiler
{
    /// <summary>The process that is compiled.</summary>
    string Process { get; }

    /// <summary>Receives what is wrong.</summary>
    ConfigErrors Errors { get; }

    /// <summary>Compiles values, conditions and templates.</summary>
    IExpressionCompiler Expressions { get; }

    /// <summary>Compiles steps that are run in a row, until one ends the process; null after an error.</summary>
    CompiledStep? Compile(IReadOnlyList<StepConfig> steps);
}


/// <summary>A compiled process. Thread-safe.</summary>
public interface IMessageProcess
{
    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>Its steps in a few words: <c>choose(1) → validate(order) → publish(orders.accepted)</c>.</summary>
    string Description { get; }

    /// <summary>Whether it hands messages to topics while it runs, and so fails while they take none. What goes by the outbox of a transaction does not count.</summary>
    bool NeedsTopics { get; }

    /// <summary>Runs the steps; the context's message is then what the process made of it.</summary>
    /// <exception cref="Errors.EsbException">A step failed.</exception>
    ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken);
}

/// <summary>Finds processes by name.</summary>
public interface IProcessCatalog
{
    /// <summary>All processes of the configuration.</summary>
    IReadOnlyCollection<IMessageProcess> All { get; }

    /// <summary>The process of this name.</summary>
    /// <exception cref="KeyNotFoundException">There is none; the configuration was not checked.</exception>
    IMessageProcess Find(string name);
}
