using Esb.Core.Configuration;

namespace Esb.Core.Listening;

/// <summary>Refuses addresses that nobody can listen at, and those that two would listen at.</summary>
internal sealed class ListeningCheck(IEnumerable<IListeningPart> parts) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        var taken = new List<(ListeningPlace Place, ListeningAddress Address)>();
        foreach (var place in parts.SelectMany(part => part.Places))
        {
            if (ListeningAddress.Parse(place.Url, place.Settings, place.Property, errors) is not { } address) continue;
            if (taken.FirstOrDefault(other => other.Address.Excludes(address)).Place is { } first)
                errors.Add("ESB-CFG-PORT", place.Settings, place.Property, $"{first.Owner} has the same port");
            else
                taken.Add((place, address));
        }
    }
}
