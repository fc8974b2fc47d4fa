using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core;
using Esb.Endpoints.Amqp;
using Esb.Endpoints.Files;
using Esb.Endpoints.Mail;
using Esb.Endpoints.MassTransit;
using Esb.Endpoints.Sftp.Inbound;
using Esb.Endpoints.Sftp.Outbound;
using Esb.Endpoints.Sql;
using Esb.Endpoints.Sql.Inbound;
using Esb.Endpoints.Timers;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Endpoints;

/// <summary>The endpoint types, one line each; a new type needs no other edit.</summary>
internal static class EndpointTypes
{
    public static IServiceCollection AddEndpointTypes(this IServiceCollection services) =>
        services
            .AddEndpointType<FileInboundType, FileInboundConfig>("file-inbound", "Reads the files that are put into a folder.")
            .AddEndpointType<FileOutboundType, FileOutboundConfig>("file-outbound", "Writes each message to a file of its own.")
            .AddRule<SharedFoldersRule>()
            .AddEndpointType<MailOutboundType, MailOutboundConfig>("mail-outbound", "Sends a mail for each message.")
            .AddEndpointType<SftpInboundType, SftpInboundConfig>("sftp-inbound", "Takes the files of a folder on an SFTP server.")
            .AddEndpointType<SftpOutboundType, SftpOutboundConfig>("sftp-outbound", "Writes each message to a file on an SFTP server.")
            .AddRule<SftpFolderRule>()
            .AddEndpointType<AmqpInboundType, AmqpInboundConfig>("amqp-inbound", "Reads a queue, or an exchange, of an AMQP broker.")
            .AddEndpointType<AmqpOutboundType, AmqpOutboundConfig>(
                "amqp-outbound",
                "Publishes to an exchange, or puts into a queue, of an AMQP broker."
            )
            .AddEndpointType<MassTransitInboundType, MassTransitInboundConfig>(
                "masstransit-inbound",
                "Receives what MassTransit applications publish or send."
            )
            .AddEndpointType<MassTransitOutboundType, MassTransitOutboundConfig>(
                "masstransit-outbound",
                "Publishes or sends messages to MassTransit applications."
            )
            .AddEndpointType<TimerInboundType, TimerInboundConfig>("timer-inbound", "Makes a message at each time of a rule.")
            .AddEndpointType<SqlInboundType, SqlInboundConfig>("sql-inbound", "Takes rows out of a table, and marks or deletes them.")
            .AddDatabases()
            .AddEndpointType<SqlOutboundType, SqlOutboundConfig>("sql-outbound", "Runs a command in a database for each message.");
}
