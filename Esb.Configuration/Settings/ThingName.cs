using System.Text.RegularExpressions;
using Esb.Core.Configuration;

namespace Esb.Configuration.Settings;

/// <summary>Checks the names that users give to the things of a configuration. They become names of queues, folders and environment
/// variables.</summary>
internal static partial class ThingName
{
    public const string Pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$";

    public const string Expected = "expected 1 to 128 letters, digits, - and _, beginning with a letter or digit";

    /// <summary>The pattern for the name of a configuration, which is part of its queue names.</summary>
    public const string ConfigurationPattern = "^[a-z0-9-]{1,40}$";

    // The parts that follow the endpoint's name in queue names of release 0.1; the endpoint's name is in that position now.
    private static readonly string[] ReservedForQueues = ["record", "keys", "lane", "retry", "migration"];

    /// <summary>The name reserved for the bus on a broker and in its records; a user's thing of that name would be mistaken for the
    /// bus.</summary>
    private const string Reserved = "esb";

    public static bool IsValid(string name) => Allowed().IsMatch(name);

    /// <summary>Refuses an invalid name of a configuration.</summary>
    public static void CheckConfiguration(ConfigNode name, ConfigErrors errors)
    {
        if (!AllowedForConfigurations().IsMatch(name.Text))
            errors.Add("ESB-CFG-NAME", name, "expected 1 to 40 of a-z, 0-9 and -, as it is in the names of queues");
    }

    /// <summary>Refuses invalid names, and names that environment variables cannot distinguish.</summary>
    public static void Check(ConfigNode section, ConfigErrors errors)
    {
        foreach (var member in section.Members.Where(member => !IsValid(member.Name)))
            errors.Add(
                "ESB-CFG-NAME",
                section.Path,
                $"the name '{Clipped.To(40, Clipped.Name(member.Name))}' is not allowed; {Expected}",
                member.Origin
            );

        foreach (
            var member in section.Members.Where(member =>
                section.Path is "topics" or "endpoints" && member.Name.Equals(Reserved, StringComparison.OrdinalIgnoreCase)
            )
        )
            errors.Add(
                "ESB-CFG-NAME",
                section.Path,
                $"the name '{member.Name}' is reserved for the bus; expected another, without the beginning {Reserved}.",
                member.Origin
            );

        foreach (
            var member in section.Members.Where(member =>
                section.Path == "endpoints" && ReservedForQueues.Contains(member.Name, StringComparer.OrdinalIgnoreCase)
            )
        )
            errors.Add(
                "ESB-CFG-NAME",
                section.Path,
                $"the name '{member.Name}' is reserved for the bus, in the names of queues; expected another.",
                member.Origin
            );

        foreach (
            var twins in section
                .Members.GroupBy(member => member.Name.Replace('_', '-'), StringComparer.OrdinalIgnoreCase)
                .Where(group => group.Count() > 1)
        )
        {
            var places = string.Join(" and ", twins.Select(twin => $"{twin.Name} at {twin.Origin}"));
            errors.Add(
                "ESB-CFG-DUPNAME",
                twins.First().Value.Path,
                $"names must differ in more than case, - and _: {places}",
                twins.Last().Origin
            );
        }
    }

    [GeneratedRegex(@"\A[A-Za-z0-9][A-Za-z0-9_-]{0,127}\z")]
    private static partial Regex Allowed();

    [GeneratedRegex(@"\A[a-z0-9-]{1,40}\z")]
    private static partial Regex AllowedForConfigurations();
}
