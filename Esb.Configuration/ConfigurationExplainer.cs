using Esb.Core.Configuration;

namespace Esb.Configuration;

/// <summary>Lists every value of a configuration with its origin: the output of <c>esb explain</c>.</summary>
public static class ConfigurationExplainer
{
    /// <summary>Returns a line <c>path = value (origin)</c> for each value, defaults included. The lines of a section are grouped, with an
    /// empty line between sections.</summary>
    /// <remarks>Secrets are shown as <c>***</c>. Texts that contain references are shown with the references as written.</remarks>
    public static IEnumerable<string> Explain(EsbConfiguration configuration)
    {
        var isFirst = true;
        foreach (var section in configuration.Values.GroupBy(value => SectionOf(value.Path)))
        {
            if (!isFirst)
                yield return "";
            isFirst = false;
            foreach (var value in section)
                yield return $"{value.Path} = {value.Shown}  ({value.Origin})";
        }
    }

    private static string SectionOf(string path) => path.IndexOf('.', StringComparison.Ordinal) is var dot and >= 0 ? path[..dot] : path;
}
