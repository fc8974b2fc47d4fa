using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Processes;

/// <summary>Settings of steps that hand messages to a topic.</summary>
internal interface IPublishes : ILeavesFacts
{
    /// <summary>The subject that they publish under.</summary>
    Subject Subject { get; }
}
