namespace Esb.Endpoints.Http.Servers;

/// <summary>The order in which the servers of an endpoint get requests.</summary>
public enum ServerBalance
{
    /// <summary>In turns.</summary>
    RoundRobin,

    /// <summary>The first one that is reachable, in the order of the configuration.</summary>
    First,
}
