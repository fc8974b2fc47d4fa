namespace Esb.Content.Watching;

/// <summary>A map, schema or look-up that follows its files.</summary>
internal interface ILiveContent
{
    /// <summary>What it is, for people: <c>map</c>, <c>schema</c> or <c>look-up</c>.</summary>
    string Kind { get; }

    /// <summary>Its name in the configuration.</summary>
    string Name { get; }

    /// <summary>Why a change was refused; null if the files are what runs.</summary>
    string? Problem { get; }

    /// <summary>Looks at the files and takes a change. Throws nothing; one thread at a time.</summary>
    void Look();
}
