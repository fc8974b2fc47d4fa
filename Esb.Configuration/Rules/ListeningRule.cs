using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Listening;

namespace Esb.Configuration.Rules;

/// <summary>Refuses addresses that no listener can use, and addresses that two listeners would use.</summary>
internal sealed class ListeningRule(ListeningPlaces places) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        var taken = new List<(ListeningPlace Place, ListeningAddress Address)>();
        foreach (var place in places.All)
        {
            if (ListeningAddress.Parse(place.Url, place.Settings, place.Property, errors) is not { } address)
                continue;
            if (taken.FirstOrDefault(other => other.Address.Excludes(address)).Place is { } first)
                errors.Add("ESB-CFG-PORT", place.Settings, place.Property, $"{first.Owner} has the same port");
            else
                taken.Add((place, address));
        }
    }
}
