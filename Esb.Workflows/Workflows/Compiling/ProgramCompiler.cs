using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Workflows.Processes.Steps;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>Lays the tree of a workflow's steps out as a list of instructions, so that an instance can stop and go on at any of
/// them.</summary>
/// <param name="processes">The processes that steps may run.</param>
/// <param name="errors">Receives errors.</param>
internal sealed class ProgramCompiler(ProcessModels processes, ConfigErrors errors)
{
    private readonly List<Func<Instruction>> _instructions = [];

    /// <summary>The instructions; empty after an error.</summary>
    public IReadOnlyList<Instruction> Compile(StepListModel steps)
    {
        Add(steps);
        _instructions.Add(() => new EndInstruction());
        return errors.Any || !steps.IsWhole ? [] : [.. _instructions.Select(make => make())];
    }

    private int Here => _instructions.Count;

    private void Add(StepListModel list)
    {
        foreach (var step in list.Steps)
            Add(step);
    }

    private void Add(StepModel step)
    {
        switch (step.Flow)
        {
            case null:
                AddWhole(step);
                break;
            case ChooseFlow choose:
                AddChoose(step, choose);
                break;
            case TryFlow attempt:
                AddGuarded(step, attempt.Steps, attempt.Handlers, compensate: null);
                break;
            case ScopeFlow scope:
                AddGuarded(step, scope.Steps, scope.Handlers, scope.Compensate);
                break;
            case ReceiveFlow receive:
                AddReceive(step, receive);
                break;
            case RequestFlow request:
                _instructions.Add(() => new RequestInstruction(step.Place, request.Subject, request.Timeout));
                break;
            case CollectFlow collect:
                _instructions.Add(() => new CollectInstruction(step.Place, collect));
                break;
            case DelayFlow delay:
                _instructions.Add(() => new DelayInstruction(step.Place, delay));
                break;
            case CorrelateFlow correlate:
                _instructions.Add(() => new CorrelateInstruction(step.Place, correlate.Keys));
                break;
            case TerminateFlow terminate:
                _instructions.Add(() => new TerminateInstruction(step.Place, terminate.Reason));
                break;
            case ParallelFlow parallel:
                AddParallel(step, parallel);
                break;
            case RepeatFlow repeat:
                AddRepeat(step, repeat);
                break;
            case ForEachFlow forEach:
                AddForEach(step, forEach);
                break;
            case ChildFlow child:
                _instructions.Add(() => new ChildInstruction(step.Place, child.Workflow, child.Waits));
                break;
            default:
                throw new InvalidOperationException($"No workflow knows how to run {step.Flow.GetType().Name}.");
        }
    }

    private void AddWhole(StepModel step)
    {
        var reached = processes.Reached([step]);
        foreach (var inner in reached.Where(inner => inner.Flow?.IsDurable == true))
            errors.Add(
                "ESB-WFL-PLACE",
                inner.Path,
                $"a workflow cannot wait inside of the step {step.Kind}; expected the step {inner.Kind} outside of it",
                inner.Origin
            );
        foreach (var inner in reached.Where(inner => inner.Flow is RequestFlow request && request.Timeout > RequestStep.LongestInMemory))
            errors.Add(
                "ESB-CFG-RANGE",
                $"{inner.Path}.timeout",
                $"expected 1ms..1h inside of the step {step.Kind}, where it waits in memory",
                inner.Origin
            );
        var hasEffect = reached.Any(inner =>
            !inner.Traits.SkipsCheckpoint
            && (inner.Traits.Calls.Count > 0 || inner.Traits.Requests.Count > 0 || inner.Traits.Transaction is not null)
        );
        _instructions.Add(() => new RunInstruction(step) { HasEffect = hasEffect });
    }

    private void AddChoose(StepModel step, ChooseFlow choose)
    {
        var at = Here;
        var targets = new List<int>();
        var (otherwise, end) = (0, 0);
        _instructions.Add(() =>
            new BranchInstruction(
                step.Place,
                step.Kind,
                [.. choose.Branches.Select((branch, index) => (branch.Condition!, targets[index]))],
                otherwise
            )
        );
        foreach (var branch in choose.Branches)
        {
            targets.Add(Here);
            Add(branch.Steps);
            _instructions.Add(() => new JumpInstruction(step.Place, end));
        }

        otherwise = Here;
        Add(choose.Otherwise);
        end = Here;
    }

    private void AddGuarded(
        StepModel step,
        StepListModel steps,
        IReadOnlyList<(IReadOnlyList<string> Codes, StepListModel Steps)> handlers,
        StepListModel? compensate
    )
    {
        var targets = new List<int>();
        int? undo = null;
        var end = 0;
        _instructions.Add(() =>
            new EnterInstruction(step.Place, step.Kind, [.. handlers.Select((handler, index) => (handler.Codes, targets[index]))], undo)
        );
        Add(steps);
        _instructions.Add(() => new LeaveInstruction(step.Place));
        _instructions.Add(() => new JumpInstruction(step.Place, end));
        foreach (var handler in handlers)
        {
            targets.Add(Here);
            Add(handler.Steps);
            _instructions.Add(() => new JumpInstruction(step.Place, end));
        }

        if (compensate is not null)
        {
            undo = Here;
            Add(compensate);
            _instructions.Add(() => new UndoneInstruction(step.Place));
        }

        end = Here;
    }

    private void AddReceive(StepModel step, ReceiveFlow receive)
    {
        int? onTimeout = null;
        var next = 0;
        _instructions.Add(() =>
            new ReceiveInstruction(step.Place, receive.Subjects, receive.Match, receive.As, receive.Timeout, onTimeout, next)
        );
        if (receive.OnTimeout is { } late)
        {
            onTimeout = Here;
            Add(late);
        }

        next = Here;
    }

    private void AddParallel(StepModel step, ParallelFlow parallel)
    {
        var targets = new List<int>();
        var next = 0;
        _instructions.Add(() =>
            new ForkInstruction(
                step.Place,
                [.. parallel.Branches.Select((branch, index) => (branch.Name, targets[index]))],
                parallel.Join,
                next
            )
        );
        foreach (var branch in parallel.Branches)
        {
            targets.Add(Here);
            Add(branch.Steps);
            _instructions.Add(() => new BranchEndInstruction(step.Place));
        }

        next = Here;
    }

    private void AddRepeat(StepModel step, RepeatFlow repeat)
    {
        var at = Here;
        var end = 0;
        _instructions.Add(() => new BranchInstruction(step.Place, step.Kind, [(repeat.While!, at + 1)], end));
        Add(repeat.Steps);
        _instructions.Add(() => new JumpInstruction(step.Place, at));
        end = Here;
    }

    private void AddForEach(StepModel step, ForEachFlow forEach)
    {
        var end = 0;
        _instructions.Add(() => new ForEachInstruction(step.Place, forEach.Items!, forEach.Of));
        var next = Here;
        _instructions.Add(() => new NextItemInstruction(step.Place, end));
        Add(forEach.Steps);
        _instructions.Add(() => new JumpInstruction(step.Place, next));
        end = Here;
    }
}
