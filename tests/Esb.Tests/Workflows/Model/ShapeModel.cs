using Esb.Core.Workflows;

namespace Esb.Tests.Workflows.Model;

/// <summary>What a workflow of random shape does, worked out in memory.</summary>
internal sealed class ShapeModel
{
    private readonly List<string> _published = [];
    private readonly List<GuardNode> _completed = []; // scopes that can be undone

    private ShapeModel() { }

    /// <summary>The subjects of what is published, requests included, in their order.</summary>
    public IReadOnlyList<string> Published => _published;

    public WorkflowState State { get; private set; } = WorkflowState.Completed;

    public string? Code { get; private set; }

    /// <summary>The body of the answer that a step gives; null if none does.</summary>
    public string? Answer { get; private set; }

    public int Children { get; private set; }

    public static ShapeModel Of(Shape shape)
    {
        var model = new ShapeModel();
        try
        {
            model.Run(shape.Steps);
        }
        catch (Failure failure)
        {
            (model.State, model.Code) = (WorkflowState.Suspended, failure.Code);
        }
        catch (End)
        {
            model.State = WorkflowState.Terminated;
        }

        return model;
    }

    private void Run(IReadOnlyList<Node> steps)
    {
        foreach (var node in steps)
            Run(node);
    }

    private void Run(Node node)
    {
        switch (node)
        {
            case PublishNode:
                _published.Add(ShapeText.SubjectOf(node));
                break;
            case ReceiveNode or CollectNode:
                break;
            case AskNode ask:
                _published.Add(ShapeText.SubjectOf(node));
                if (ask.Answer != Model.Answer.Reply)
                    throw new Failure(ask.Answer == Model.Answer.None ? ShapeText.TimeoutCode : ShapeText.CodeOf(node));
                break;
            case ChooseNode choose:
                Run(choose.Holds ? choose.Then : choose.Otherwise);
                break;
            case LoopNode loop:
                for (var item = 0; item < loop.Items; item++)
                    Run(loop.Steps);
                break;
            case ParallelNode parallel:
                foreach (var branch in parallel.Branches)
                    Run(branch);
                break;
            case GuardNode guard:
                Run(guard);
                break;
            case FailNode:
                throw new Failure(ShapeText.CodeOf(node));
            case ChildNode:
                Children++;
                _published.Add(ShapeText.SubjectOf(node));
                break;
            case RespondNode:
                Answer ??= $"r{node.Number}";
                break;
            case TerminateNode:
                throw new End();
            default:
                throw new ArgumentOutOfRangeException(nameof(node));
        }
    }

    private void Run(GuardNode guard)
    {
        var before = _completed.Count;
        try
        {
            Run(guard.Steps);
        }
        catch (Failure failure) when (guard.Catch is not null && (guard.CatchesAll || failure.Code == ShapeText.TimeoutCode))
        {
            while (_completed.Count > before)
            {
                Run(_completed[^1].Compensate!);
                _completed.RemoveAt(_completed.Count - 1);
            }

            Run(guard.Catch);
            return;
        }

        if (guard.Compensate is not null)
            _completed.Add(guard);
    }

    private sealed class Failure(string code) : Exception
    {
        public string Code => code;
    }

    private sealed class End : Exception;
}
