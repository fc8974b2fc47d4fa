namespace Esb.Core.Configuration;

/// <summary>A model that was compiled of files beside the configuration's JSON, such as maps.</summary>
public interface IFileContents
{
    /// <summary>The same for files of the same names and bytes.</summary>
    string ContentHash { get; }

    /// <summary>The full path of every file.</summary>
    IEnumerable<string> Paths { get; }
}
