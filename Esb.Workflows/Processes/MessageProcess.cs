using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>A list of stateless steps that is bound to the running bus.</summary>
internal sealed class MessageProcess(ProcessModel model, MessageStep steps) : IMessageProcess
{
    public string Name { get; } = model.Name;

    public bool NeedsTopics => model.NeedsTopics;

    public bool Accepts => model.Accepts;

    public ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        context.Process = Name;
        return steps(context, cancellationToken);
    }
}
