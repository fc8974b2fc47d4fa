namespace Esb.Core.Audit;

/// <summary>How much of a message is recorded beside what happened to it. Each level records what those before it do.</summary>
public enum AuditBodies
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>Its headers.</summary>
    Headers,

    /// <summary>The fields that the configuration promotes for search.</summary>
    Fields,

    /// <summary>Its body.</summary>
    Whole,
}

/// <summary>Where on the way of a message something of it is recorded: before and after the bus has changed it.</summary>
public enum AuditPoint
{
    /// <summary>As it came in from outside, also where it was refused at once.</summary>
    Received,

    /// <summary>As it was published.</summary>
    Published,

    /// <summary>As an outbound endpoint delivered it.</summary>
    Delivered,

    /// <summary>The answer, as it came from outside and as its sender got it.</summary>
    Replied,

    /// <summary>Before and after each step that transforms it, where steps are recorded.</summary>
    Transformed,
}
