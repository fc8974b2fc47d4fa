using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Assigns a preferred host to each lane, so that the hosts have equal shares. All hosts compute the same result
/// independently.</summary>
/// <remarks>Rendezvous hashing in rounds: in each round, every host gets one lane.</remarks>
internal static class LaneShares
{
    /// <returns>A host for each lane; empty where there are no hosts.</returns>
    public static IReadOnlyList<Guid> Of(string endpoint, int lanes, IReadOnlyCollection<Guid> hosts)
    {
        if (hosts.Count == 0)
            return [];
        var left = hosts.ToDictionary(host => host, _ => 0);
        var shares = new Guid[lanes];
        for (var lane = 0; lane < lanes; lane++)
        {
            var most = lane / hosts.Count; // no host gets another lane before all hosts have as many
            var host = hosts.Where(candidate => left[candidate] <= most).MaxBy(candidate => Weight(endpoint, lane, candidate));
            left[host]++;
            shares[lane] = host;
        }

        return shares;
    }

    private static ulong Weight(string endpoint, int lane, Guid host) =>
        BinaryPrimitives.ReadUInt64LittleEndian(SHA256.HashData(Encoding.UTF8.GetBytes($"{endpoint}/{lane}/{host:N}")));
}
