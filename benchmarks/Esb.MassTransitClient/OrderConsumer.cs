using System.Text;
using System.Text.Json.Serialization;
using MassTransit;
using Npgsql;
using NpgsqlTypes;

namespace Esb.MassTransitClient;

/// <summary>An order.</summary>
/// <param name="Number">Its number; a property may not have the name of its class.</param>
/// <param name="Fill">What fills it.</param>
public sealed record Order([property: JsonPropertyName("order")] string Number, string Fill);

/// <summary>Inserts each order as it was sent.</summary>
public sealed class OrderConsumer(NpgsqlDataSource database) : IConsumer<Order>
{
    /// <inheritdoc/>
    public async Task Consume(ConsumeContext<Order> context)
    {
        await using var command = database.CreateCommand(
            "insert into orders_in (message_id, body) values ($1, $2) on conflict (message_id) do nothing"
        );
        command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = context.MessageId!.Value });
        var body = Encoding.UTF8.GetString(context.ReceiveContext.Body.GetBytes());
        command.Parameters.Add(new NpgsqlParameter { NpgsqlDbType = NpgsqlDbType.Unknown, Value = body });
        await command.ExecuteNonQueryAsync(context.CancellationToken);
    }
}
