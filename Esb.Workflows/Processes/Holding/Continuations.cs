using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Holding;

/// <summary>The steps behind each step that holds messages. Immutable.</summary>
internal sealed class Continuations
{
    private readonly Dictionary<string, IReadOnlyList<StepListModel>> _behind = [];

    private Continuations(StepListModel steps) => Add(steps, []);

    public static Continuations Of(ProcessModel process) => new(process.Steps);

    /// <summary>The lists that run one after the other behind a step, until one ends the process; null if there is no such step.</summary>
    public IReadOnlyList<StepListModel>? Find(string place) => _behind.GetValueOrDefault(place);

    // What a part of a message continues with ends with the steps for parts: the step that divides has gone on meanwhile.
    private void Add(StepListModel list, IReadOnlyList<StepListModel> outer)
    {
        for (var index = 0; index < list.Steps.Count; index++)
        {
            var step = list.Steps[index];
            IReadOnlyList<StepListModel> behind = index == list.Steps.Count - 1 ? outer : [list.Behind(index), .. outer];
            if (step.Traits.Holds)
                _behind[step.Place] = behind;
            foreach (var inner in step.Lists)
                Add(inner, step.Traits.Divides ? [] : behind);
        }
    }
}
