namespace Esb.Content.Transforms;

/// <summary>The files of a map, read once: what is hashed is what is compiled. Immutable.</summary>
internal interface IMapSource
{
    /// <summary>The same for sources whose files have the same names and bytes.</summary>
    string ContentHash { get; }

    /// <summary>Every file, the map's own first.</summary>
    IReadOnlyList<string> Paths { get; }

    /// <summary>State of the files before they were read, as <see cref="ContentStamp.Of"/> of <see cref="Paths"/>: a later state is a
    /// change.</summary>
    string Stamp { get; }

    /// <summary>The parameters that the map declares.</summary>
    IReadOnlyList<MapParameter> Parameters { get; }
}
