using Esb.Core.Processes;

namespace Esb.Workflows.Processes;

/// <summary>A compiled list of stateless steps.</summary>
internal sealed class MessageProcess(string name, CompiledStep steps, bool needsTopics) : IMessageProcess
{
    public string Name => name;

    public string Description => steps.Description;

    public bool NeedsTopics => needsTopics;

    public ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        context.Process = name;
        return steps.Run(context, cancellationToken);
    }
}
