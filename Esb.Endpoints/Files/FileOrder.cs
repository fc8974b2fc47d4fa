namespace Esb.Endpoints.Files;

/// <summary>The order in which waiting files are taken.</summary>
public enum FileOrder
{
    /// <summary>By name.</summary>
    Name,

    /// <summary>By the time of the last change, then by name.</summary>
    Time,
}
