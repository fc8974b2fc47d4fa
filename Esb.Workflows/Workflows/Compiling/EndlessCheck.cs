using Esb.Core.Configuration;
using Esb.Core.Processes;

namespace Esb.Workflows.Workflows.Compiling;

/// <summary>Warns of workflows whose instances never end by themselves.</summary>
/// <remarks>Where it cannot be told, they may end: only a <c>repeat</c> whose condition always holds, and workflows that run one another,
/// are certain not to.</remarks>
internal sealed class EndlessCheck(ProcessModels processes, ConfigErrors errors)
{
    private readonly HashSet<string> _ending = [];

    public void Check(IReadOnlyList<(WorkflowConfig Config, StepListModel Steps)> workflows)
    {
        var names = workflows.Select(one => one.Config.Name).ToHashSet();
        var open = workflows.Where(one => one.Config.Timeout is null).ToList();
        _ending.UnionWith(names.Except(open.Select(one => one.Config.Name)));
        // What runs another one ends after it, and so is known after it.
        while (open.Where(one => Follow(one.Steps, names) is { Passes: true } or { Ends: true }).ToList() is { Count: > 0 } ending)
        {
            _ending.UnionWith(ending.Select(one => one.Config.Name));
            open = [.. open.Except(ending)];
        }

        foreach (var (config, steps) in open)
        {
            var at = Follow(steps, names).Stop;
            errors.Warn(
                "ESB-WFL-ENDLESS",
                at?.Path ?? config.Path,
                $"no instance of '{config.Name}' goes past this step or ends before it: expected a condition that stops to hold, a step "
                    + "terminate, or a timeout of the workflow",
                at?.Origin ?? config.Origin
            );
        }
    }

    private Way Follow(StepListModel list, HashSet<string> names)
    {
        var ends = false;
        foreach (var step in list.Steps)
        {
            var way = Follow(step, names);
            ends |= way.Ends;
            if (!way.Passes)
                return new Way(Passes: false, ends, way.Stop ?? step);
        }

        return new Way(Passes: true, ends);
    }

    private Way Follow(StepModel step, HashSet<string> names)
    {
        if (step.Flow is null)
            return new Way(Passes: true, processes.Reached([step]).Any(reached => reached.Traits.MayEnd));
        var ends = step.Lists.Any(list => Follow(list, names).Ends);
        return step.Flow switch
        {
            TerminateFlow => new Way(Passes: false, Ends: true),
            RepeatFlow { IsEndless: true } => new Way(Passes: false, ends),
            ChildFlow { Waits: true } child => new Way(_ending.Contains(child.Workflow) || !names.Contains(child.Workflow), ends),
            ChooseFlow choose => Join([.. choose.Branches.Select(branch => branch.Steps), choose.Otherwise], least: 1),
            TryFlow attempt => Join([attempt.Steps, .. attempt.Handlers.Select(handler => handler.Steps)], least: 1),
            ScopeFlow scope => Join([scope.Steps, .. scope.Handlers.Select(handler => handler.Steps)], least: 1),
            ParallelFlow parallel => Join([.. parallel.Branches.Select(branch => branch.Steps)], parallel.Join),
            _ => new Way(Passes: true, ends),
        };

        // The steps behind follow where enough of the lists come to their end.
        Way Join(IReadOnlyList<StepListModel> lists, int least)
        {
            var ways = lists.Select(list => Follow(list, names)).ToList();
            return new Way(ways.Count(way => way.Passes) >= least, ends, ways.Find(way => !way.Passes).Stop);
        }
    }

    /// <summary>Where steps lead: past them, to the end of the instance, or no further than to one of them.</summary>
    private readonly record struct Way(bool Passes, bool Ends, StepModel? Stop = null);
}
