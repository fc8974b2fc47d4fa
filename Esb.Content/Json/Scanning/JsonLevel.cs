namespace Esb.Content.Json.Scanning;

/// <summary>An object or array that is open.</summary>
internal struct JsonLevel
{
    public bool IsArray;

    /// <summary>How many elements of an array have begun.</summary>
    public long Elements;

    /// <summary>Where the steps begin that wait for its children.</summary>
    public int StepsStart;
}
