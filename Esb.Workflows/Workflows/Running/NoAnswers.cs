using Esb.Core.Messages;
using Esb.Core.Workflows;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Answers where nobody can wait for one.</summary>
internal sealed class NoAnswers : IAnswerSender
{
    public ValueTask<bool> SendAsync(string address, EsbMessage request, EsbMessage answer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(false);
}
