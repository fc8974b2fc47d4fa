using Esb.Core.Configuration;
using Esb.Core.Expressions;

namespace Esb.Core.Processes;

/// <summary>Compiles the steps of one kind. Used in the compile phase: its constructor may request the configuration and models, but no
/// running service.</summary>
public interface IStepFactory
{
    /// <summary>The step's name in the configuration.</summary>
    string Kind { get; }

    /// <summary>Compiles a step with its children. The compiler collects errors; a step with an error still has a model, which cannot be
    /// bound.</summary>
    StepModel Compile(StepConfig step, IStepCompiler compiler);
}

/// <summary>Services for a factory that compiles a step of a process.</summary>
public interface IStepCompiler
{
    /// <summary>The process being compiled.</summary>
    string Process { get; }

    /// <summary>True if the steps are those of a workflow, which has variables and can wait.</summary>
    bool IsWorkflow => false;

    /// <summary>Receives errors.</summary>
    ConfigErrors Errors { get; }

    /// <summary>Compiles values, conditions and templates.</summary>
    IExpressionCompiler Expressions { get; }

    /// <summary>Compiles steps that run in sequence, until one ends the process.</summary>
    StepListModel Compile(IReadOnlyList<StepConfig> steps);
}
