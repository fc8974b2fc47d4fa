using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Core.Processes;

/// <summary>Compiles the steps of one kind. Lives in the compile phase: its constructor may ask for the configuration and for models, never
/// for anything that runs.</summary>
public interface IStepFactory
{
    /// <summary>The step's name in the configuration.</summary>
    string Kind { get; }

    /// <summary>Compiles a step with its children. Errors are collected by the compiler; the model shows the step also then, and cannot be
    /// bound.</summary>
    StepModel Compile(StepConfig step, IStepCompiler compiler);
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

    /// <summary>Compiles steps that are run in a row, until one ends the process.</summary>
    StepListModel Compile(IReadOnlyList<StepConfig> steps);
}
