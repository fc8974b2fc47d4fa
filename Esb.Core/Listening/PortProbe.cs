using System.Net;
using System.Net.Sockets;
using Esb.Core.Configuration;

namespace Esb.Core.Listening;

/// <summary>Probes all ports to listen on, so that every unavailable port is reported before the first is opened.</summary>
public static class PortProbe
{
    /// <summary>Opens and closes each port.</summary>
    /// <exception cref="ConfigurationRefusedException">With an <c>ESB-CFG-PORT</c> for each that is in use, or is not an address of this
    /// machine.</exception>
    public static void RequireFree(IEnumerable<ListeningPlace> places)
    {
        var errors = new ConfigErrors();
        foreach (var place in places.Where(place => place.IsOpened))
        {
            if (ListeningAddress.Parse(place.Url, place.Settings, place.Property, errors) is { } address && FaultOf(address) is { } fault)
                errors.Add("ESB-CFG-PORT", place.Settings, place.Property, fault);
        }

        if (errors.Any)
            throw new ConfigurationRefusedException(errors.All);
    }

    private static string? FaultOf(ListeningAddress address)
    {
        try
        {
            using var listener = new TcpListener(new IPEndPoint(address.Address, address.Port));
            listener.Start();
            return null;
        }
        catch (SocketException ex)
        {
            return ex.SocketErrorCode switch
            {
                SocketError.AddressAlreadyInUse => $"the port {address.Port} is in use",
                SocketError.AddressNotAvailable => $"{address.Address} is no address of this machine",
                SocketError.AccessDenied => $"this user may not listen at port {address.Port}",
                _ => $"cannot listen there: {ex.Message}",
            };
        }
    }
}
