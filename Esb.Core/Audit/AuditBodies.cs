namespace Esb.Core.Audit;

/// <summary>Amount of a message recorded with its facts. Each level includes the levels before it.</summary>
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

/// <summary>Points on a message's path at which content is recorded: before and after the bus has changed it.</summary>
public enum AuditPoint
{
    /// <summary>As received from an external system, even if rejected at once.</summary>
    Received,

    /// <summary>As it was published.</summary>
    Published,

    /// <summary>As an outbound endpoint delivered it.</summary>
    Delivered,

    /// <summary>The answer, as received from an external system and as returned to the sender.</summary>
    Replied,

    /// <summary>Before and after each transforming step, if steps are recorded.</summary>
    Transformed,
}
