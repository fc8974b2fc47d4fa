using Esb.Core.Configuration;

namespace Esb.Configuration;

/// <summary>Shows every value of a configuration and where it came from: what <c>esb explain</c> prints.</summary>
public static class ConfigurationExplainer
{
    /// <summary>A line <c>path = value  (origin)</c> for each value, defaults included; the lines of a section stand together, with an empty line between sections.</summary>
    /// <remarks>Secrets are <c>***</c>, and texts that references bring are shown as the references were written.</remarks>
    public static IEnumerable<string> Explain(EsbConfiguration configuration)
    {
        var isFirst = true;
        foreach (var section in configuration.Values.GroupBy(value => SectionOf(value.Path)))
        {
            if (!isFirst) yield return "";
            isFirst = false;
            foreach (var value in section) yield return $"{value.Path} = {value.Shown}  ({value.Origin})";
        }
    }

    private static string SectionOf(string path) => path.IndexOf('.', StringComparison.Ordinal) is var dot and >= 0 ? path[..dot] : path;
}
