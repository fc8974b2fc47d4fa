using Esb.Core.Topics;

namespace Esb.Workflows.Processes;

/// <summary>Settings of steps that hand messages to a topic.</summary>
internal interface IPublishes
{
    /// <summary>The subject that they publish under.</summary>
    Subject Subject { get; }
}
