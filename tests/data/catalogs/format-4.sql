PRAGMA page_size = 16384;
BEGIN TRANSACTION;
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  first_part INTEGER NOT NULL,
  last_part INTEGER NOT NULL,
  data BLOB NOT NULL
);
INSERT INTO "chunks" VALUES(1,1,10,X'28B52FFD643801850A0026973F1F606B9A03E8214262B7946E59C8EF24D1180782F283EE68FD7E6522800B470434003A003700CDE7ABF90C0975D5030B83C8DCD78D53CC90A2DD9EC4795EA9177A558FBF9AA2EF2D79B49835B52A9C7B96977CC4BCAEC70DB4048AC4656BE124558A16E21615C415450823889D5A78C2E4A9083630524080245EA82623A9C814AE593F000D7520CC2EE71EACBE0A23274F51D4A8099B32F892511B639BAAC4D3C93327EF5834CD3079358E2DFBF839C5FB8627432367CC54F738677754F3BAC53E4A1008581854589E0048C7DB1E1FD44DFCE4FDB2B5F05263F8664F1D24DED0D46CDD67ABCA971AC3EB949FD20FECF02469878C9FFE366033CEFB8B9A022120101488AD078654FBF080A51531E6B4188241130FBF5860310CFF355DAE59A394967D3FFC2EF0680D743FC542B4926EEBD34CBA98535A820B440CACDE3504A7A7C8109F03DB6EE10A6303DB723215E25A2D');
CREATE TABLE contexts (
  id INTEGER PRIMARY KEY,
  cwd TEXT, branch TEXT, version TEXT, entrypoint TEXT, model TEXT
);
INSERT INTO "contexts" VALUES(1,'/home/mira/src/shop','fix/lantern','2.1.100',NULL,NULL);
INSERT INTO "contexts" VALUES(2,'/home/mira/src/shop','fix/lantern','2.1.100',NULL,'claude-opus-4-6');
INSERT INTO "contexts" VALUES(3,'/home/mira/src/shop','main','2.1.100',NULL,NULL);
INSERT INTO "contexts" VALUES(4,'/home/mira/src/shop','main','2.1.100',NULL,'claude-opus-4-6');
CREATE TABLE facts (
  session INTEGER NOT NULL,
  name INTEGER NOT NULL,
  value TEXT NOT NULL,
  agent INTEGER NOT NULL,
  leaf BLOB,
  line INTEGER NOT NULL,
  PRIMARY KEY (session, name, value, agent)
) WITHOUT ROWID;
INSERT INTO "facts" VALUES(1,1,'/home/mira/src/shop',0,NULL,0);
INSERT INTO "facts" VALUES(1,2,'fix/lantern',0,NULL,7);
INSERT INTO "facts" VALUES(1,3,'2.1.100',0,NULL,7);
INSERT INTO "facts" VALUES(1,4,'claude-opus-4-6',0,NULL,7);
INSERT INTO "facts" VALUES(2,1,'/home/mira/src/shop',0,NULL,0);
INSERT INTO "facts" VALUES(2,2,'main',0,NULL,8);
INSERT INTO "facts" VALUES(2,3,'2.1.100',0,NULL,8);
INSERT INTO "facts" VALUES(3,1,'/home/mira/src/shop',0,NULL,0);
INSERT INTO "facts" VALUES(3,2,'main',0,NULL,2);
INSERT INTO "facts" VALUES(3,3,'2.1.100',0,NULL,2);
INSERT INTO "facts" VALUES(3,4,'claude-opus-4-6',0,NULL,2);
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  session INTEGER NOT NULL DEFAULT 0,
  agent INTEGER,
  directory TEXT,
  is_copy INTEGER NOT NULL,
  is_gone INTEGER NOT NULL DEFAULT 0,
  checkpoint BLOB,
  bytes INTEGER NOT NULL DEFAULT 0,
  lines INTEGER NOT NULL DEFAULT 0,
  torn INTEGER NOT NULL DEFAULT 0,
  noise TEXT NOT NULL DEFAULT '{}'
);
INSERT INTO "files" VALUES(1,'/home/mira/.claude/projects/-home-mira-src-shop/cccccccc-0000-4000-8000-000000000003.jsonl','session',2,NULL,'-home-mira-src-shop',0,0,X'7B226D61726B223A7B22646576696365223A36353032342C22696E6F6465223A323134363433332C2273697A65223A343432392C226D6F646966696564223A313739353031323537303639313638353532352C226F6666736574223A343432392C226C696E6573223A382C22637263223A3134353336333038352C2268656164223A323331393333373337352C227461696C223A39353532333330337D2C226D656D6F7279223A7B7D2C2274616C6C79223A5B343432392C382C302C7B7D5D7D',4429,8,0,'{}');
INSERT INTO "files" VALUES(2,'/home/mira/.claude/projects/-home-mira-src-shop/bbbbbbbb-0000-4000-8000-000000000002.jsonl','session',3,NULL,'-home-mira-src-shop',0,0,X'7B226D61726B223A7B22646576696365223A36353032342C22696E6F6465223A323134363431372C2273697A65223A313034312C226D6F646966696564223A313739353031323537303639313534363130362C226F6666736574223A313034312C226C696E6573223A322C22637263223A323939383730363732332C2268656164223A333633333535303339392C227461696C223A333838323531383934347D2C226D656D6F7279223A7B7D2C2274616C6C79223A5B313034312C322C302C7B7D5D7D',1041,2,0,'{}');
INSERT INTO "files" VALUES(3,'/home/mira/.claude/projects/-home-mira-src-shop/aaaaaaaa-0000-4000-8000-000000000001.jsonl','session',1,NULL,'-home-mira-src-shop',0,0,X'7B226D61726B223A7B22646576696365223A36353032342C22696E6F6465223A323134363430382C2273697A65223A343133382C226D6F646966696564223A313739353031323537303639313431383437352C226F6666736574223A343133382C226C696E6573223A372C22637263223A3230383239353339382C2268656164223A323331393333373337352C227461696C223A313937393431343830377D2C226D656D6F7279223A7B7D2C2274616C6C79223A5B343133382C372C302C7B7D5D7D',4138,7,0,'{}');
CREATE TABLE losses (
  id INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  part INTEGER,
  detail TEXT NOT NULL
);
CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
INSERT INTO "names" VALUES(1,'project');
INSERT INTO "names" VALUES(2,'branch');
INSERT INTO "names" VALUES(3,'version');
INSERT INTO "names" VALUES(4,'model');
INSERT INTO "names" VALUES(5,'user');
INSERT INTO "names" VALUES(6,'assistant');
INSERT INTO "names" VALUES(7,'Bash');
INSERT INTO "names" VALUES(8,'Edit');
INSERT INTO "names" VALUES(9,'edit');
CREATE TABLE numbers (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "numbers" VALUES('chunks',1);
INSERT INTO "numbers" VALUES('parts',10);
INSERT INTO "numbers" VALUES('records',10);
CREATE TABLE parts (
  id INTEGER PRIMARY KEY,
  record INTEGER NOT NULL,
  block INTEGER NOT NULL,
  variant INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  role INTEGER NOT NULL,
  session INTEGER NOT NULL,
  standing INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  tool INTEGER,
  call TEXT,
  is_error INTEGER NOT NULL,
  fields TEXT,
  chunk INTEGER NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  language INTEGER NOT NULL,
  repeats INTEGER
);
INSERT INTO "parts" VALUES(1,1,0,0,0,0,1,0,8357319562479178120,NULL,NULL,0,NULL,1,0,62,1,NULL);
INSERT INTO "parts" VALUES(2,2,0,0,2,1,1,0,-7471390891288957841,NULL,NULL,0,NULL,1,62,57,1,NULL);
INSERT INTO "parts" VALUES(3,3,0,0,3,1,1,0,5740316320516414680,7,'toolu_8332f1ee8409a99b026b',0,'[["command",9,37],["description",51,68]]',1,119,68,0,NULL);
INSERT INTO "parts" VALUES(4,4,0,0,4,0,1,0,-9077683254499793693,7,'toolu_8332f1ee8409a99b026b',0,NULL,1,187,30,0,NULL);
INSERT INTO "parts" VALUES(5,5,0,0,3,1,1,0,7299398809788263689,8,'toolu_d804c82d5fc6e62c38ee',0,'[["file_path",11,41],["old_string",54,58],["new_string",71,77]]',1,217,77,0,NULL);
INSERT INTO "parts" VALUES(6,6,0,0,4,0,1,0,-6827745845553683041,8,'toolu_d804c82d5fc6e62c38ee',0,NULL,1,294,21,0,NULL);
INSERT INTO "parts" VALUES(7,7,0,0,1,1,1,0,-925804634468414371,NULL,NULL,0,NULL,1,315,74,1,NULL);
INSERT INTO "parts" VALUES(8,8,0,0,0,0,2,0,-8043444505737166400,NULL,NULL,0,NULL,1,389,15,1,NULL);
INSERT INTO "parts" VALUES(9,9,0,0,0,0,3,0,-3712003716506574483,NULL,NULL,0,NULL,1,404,83,5,NULL);
INSERT INTO "parts" VALUES(10,10,0,0,1,1,3,0,7503663247214073864,NULL,NULL,0,NULL,1,487,81,5,NULL);
CREATE TABLE paths (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
);
INSERT INTO "paths" VALUES(1,'/home/mira/src/shop/lantern.py');
CREATE TABLE places (
  record INTEGER NOT NULL,
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  is_by_file INTEGER NOT NULL,
  session INTEGER NOT NULL,
  agent INTEGER,
  parent BLOB,
  logical_parent BLOB,
  source_call BLOB,
  type INTEGER NOT NULL,
  time INTEGER,
  context INTEGER NOT NULL,
  response INTEGER,
  standing INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  PRIMARY KEY (record, file, line, is_by_file)
) WITHOUT ROWID;
INSERT INTO "places" VALUES(1,1,1,0,1,NULL,NULL,NULL,NULL,5,1772359201000,1,NULL,0,8);
INSERT INTO "places" VALUES(1,1,1,1,2,NULL,NULL,NULL,NULL,5,1772359201000,1,NULL,0,8);
INSERT INTO "places" VALUES(1,3,1,0,1,NULL,NULL,NULL,NULL,5,1772359201000,1,NULL,0,8);
INSERT INTO "places" VALUES(2,1,2,0,1,NULL,X'18A2E6E0FF6D4F99A23159B5245DE420',NULL,NULL,6,1772359202000,2,550418134594838235,0,8);
INSERT INTO "places" VALUES(2,1,2,1,2,NULL,X'18A2E6E0FF6D4F99A23159B5245DE420',NULL,NULL,6,1772359202000,2,550418134594838235,0,8);
INSERT INTO "places" VALUES(2,3,2,0,1,NULL,X'18A2E6E0FF6D4F99A23159B5245DE420',NULL,NULL,6,1772359202000,2,550418134594838235,0,8);
INSERT INTO "places" VALUES(3,1,3,0,1,NULL,X'2AE84605FC3046BCA268C013C6583F04',NULL,NULL,6,1772359204000,2,550418134594838235,0,8);
INSERT INTO "places" VALUES(3,1,3,1,2,NULL,X'2AE84605FC3046BCA268C013C6583F04',NULL,NULL,6,1772359204000,2,550418134594838235,0,8);
INSERT INTO "places" VALUES(3,3,3,0,1,NULL,X'2AE84605FC3046BCA268C013C6583F04',NULL,NULL,6,1772359204000,2,550418134594838235,0,8);
INSERT INTO "places" VALUES(4,1,4,0,1,NULL,X'6081CB171E274F10A483DA6536FD9963',NULL,NULL,5,1772359205000,1,NULL,0,24);
INSERT INTO "places" VALUES(4,1,4,1,2,NULL,X'6081CB171E274F10A483DA6536FD9963',NULL,NULL,5,1772359205000,1,NULL,0,24);
INSERT INTO "places" VALUES(4,3,4,0,1,NULL,X'6081CB171E274F10A483DA6536FD9963',NULL,NULL,5,1772359205000,1,NULL,0,24);
INSERT INTO "places" VALUES(5,1,5,0,1,NULL,X'FA4D39866DD44626A570806194DDEF4A',NULL,NULL,6,1772359207000,2,5650518671654849428,0,8);
INSERT INTO "places" VALUES(5,1,5,1,2,NULL,X'FA4D39866DD44626A570806194DDEF4A',NULL,NULL,6,1772359207000,2,5650518671654849428,0,8);
INSERT INTO "places" VALUES(5,3,5,0,1,NULL,X'FA4D39866DD44626A570806194DDEF4A',NULL,NULL,6,1772359207000,2,5650518671654849428,0,8);
INSERT INTO "places" VALUES(6,1,6,0,1,NULL,X'E5BCA9D8AB824A16ABF91D96587C5A28',NULL,NULL,5,1772359208000,1,NULL,0,24);
INSERT INTO "places" VALUES(6,1,6,1,2,NULL,X'E5BCA9D8AB824A16ABF91D96587C5A28',NULL,NULL,5,1772359208000,1,NULL,0,24);
INSERT INTO "places" VALUES(6,3,6,0,1,NULL,X'E5BCA9D8AB824A16ABF91D96587C5A28',NULL,NULL,5,1772359208000,1,NULL,0,24);
INSERT INTO "places" VALUES(7,1,7,0,1,NULL,X'2D963433DE4A4573A34ECFDB89ED1010',NULL,NULL,6,1772359209000,2,-7459360406592977688,0,8);
INSERT INTO "places" VALUES(7,1,7,1,2,NULL,X'2D963433DE4A4573A34ECFDB89ED1010',NULL,NULL,6,1772359209000,2,-7459360406592977688,0,8);
INSERT INTO "places" VALUES(7,3,7,0,1,NULL,X'2D963433DE4A4573A34ECFDB89ED1010',NULL,NULL,6,1772359209000,2,-7459360406592977688,0,8);
CREATE TABLE problems (
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (file, line, kind, detail)
) WITHOUT ROWID;
CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  uuid BLOB NOT NULL UNIQUE,
  parent INTEGER,
  missing_parent BLOB,
  logical_parent BLOB,
  source_call BLOB,
  type INTEGER NOT NULL,
  session INTEGER NOT NULL,
  agent INTEGER,
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  time INTEGER,
  context INTEGER NOT NULL,
  response INTEGER,
  standing INTEGER NOT NULL,
  flags INTEGER NOT NULL
);
INSERT INTO "records" VALUES(1,X'18A2E6E0FF6D4F99A23159B5245DE420',NULL,NULL,NULL,NULL,5,1,NULL,3,1,1772359201000,1,NULL,0,40);
INSERT INTO "records" VALUES(2,X'2AE84605FC3046BCA268C013C6583F04',1,NULL,NULL,NULL,6,1,NULL,3,2,1772359202000,2,550418134594838235,0,40);
INSERT INTO "records" VALUES(3,X'6081CB171E274F10A483DA6536FD9963',2,NULL,NULL,NULL,6,1,NULL,3,3,1772359204000,2,550418134594838235,0,40);
INSERT INTO "records" VALUES(4,X'FA4D39866DD44626A570806194DDEF4A',3,NULL,NULL,NULL,5,1,NULL,3,4,1772359205000,1,NULL,0,56);
INSERT INTO "records" VALUES(5,X'E5BCA9D8AB824A16ABF91D96587C5A28',4,NULL,NULL,NULL,6,1,NULL,3,5,1772359207000,2,5650518671654849428,0,40);
INSERT INTO "records" VALUES(6,X'2D963433DE4A4573A34ECFDB89ED1010',5,NULL,NULL,NULL,5,1,NULL,3,6,1772359208000,1,NULL,0,56);
INSERT INTO "records" VALUES(7,X'32574F1CCC69474AA6809B2B9DAE97A6',6,NULL,NULL,NULL,6,1,NULL,3,7,1772359209000,2,-7459360406592977688,0,40);
INSERT INTO "records" VALUES(8,X'DDDDDDDD00004000800000000000000D',NULL,NULL,NULL,NULL,5,2,NULL,1,8,1772445600000,3,NULL,0,8);
INSERT INTO "records" VALUES(9,X'38C00EBABF0D47F8AD1BA775D076915A',NULL,NULL,NULL,NULL,5,3,NULL,2,1,1772359201000,3,NULL,0,8);
INSERT INTO "records" VALUES(10,X'D7525768D00D4A3BAB94238A1FF62D97',9,NULL,NULL,NULL,6,3,NULL,2,2,1772359202000,4,5224036455443535392,0,8);
CREATE TABLE responses (
  id INTEGER PRIMARY KEY,
  record BLOB NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost REAL
);
INSERT INTO "responses" VALUES(-7459360406592977688,X'32574F1CCC69474AA6809B2B9DAE97A6',10,20,1000,0,NULL);
INSERT INTO "responses" VALUES(550418134594838235,X'2AE84605FC3046BCA268C013C6583F04',10,20,1000,0,NULL);
INSERT INTO "responses" VALUES(5224036455443535392,X'D7525768D00D4A3BAB94238A1FF62D97',10,20,1000,0,NULL);
INSERT INTO "responses" VALUES(5650518671654849428,X'E5BCA9D8AB824A16ABF91D96587C5A28',10,20,1000,0,NULL);
CREATE TABLE seals (
  kind INTEGER NOT NULL,
  block INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (kind, block)
) WITHOUT ROWID;
INSERT INTO "seals" VALUES(0,0,19511008673);
INSERT INTO "seals" VALUES(1,0,9145860831);
INSERT INTO "seals" VALUES(2,0,4129201907);
INSERT INTO "seals" VALUES(3,0,7988737123);
INSERT INTO "seals" VALUES(4,0,8605236704);
INSERT INTO "seals" VALUES(5,0,22965019724);
INSERT INTO "seals" VALUES(6,0,40435579740);
INSERT INTO "seals" VALUES(7,0,19397964237);
INSERT INTO "seals" VALUES(8,0,37419415630);
INSERT INTO "seals" VALUES(9,0,1992106814);
INSERT INTO "seals" VALUES(10,-415,3074085107);
INSERT INTO "seals" VALUES(10,30,343947963);
INSERT INTO "seals" VALUES(10,289,3139646093);
INSERT INTO "seals" VALUES(10,313,3951457086);
INSERT INTO "seals" VALUES(11,0,2157599424);
INSERT INTO "seals" VALUES(12,0,2346235776);
INSERT INTO "seals" VALUES(13,0,26679350707);
INSERT INTO "seals" VALUES(15,0,3892945139);
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  started INTEGER,
  ended INTEGER,
  has_transcript INTEGER NOT NULL DEFAULT 0,
  is_settled INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "sessions" VALUES(0,'',NULL,NULL,0,1);
INSERT INTO "sessions" VALUES(1,'aaaaaaaa-0000-4000-8000-000000000001',1772359201000,1772359209000,1,1);
INSERT INTO "sessions" VALUES(2,'cccccccc-0000-4000-8000-000000000003',1772445600000,1772445600000,1,1);
INSERT INTO "sessions" VALUES(3,'bbbbbbbb-0000-4000-8000-000000000002',1772359201000,1772359202000,1,1);
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "settings" VALUES('reading','2');
INSERT INTO "settings" VALUES('roots','["/home/mira/.claude"]');
CREATE TABLE stale (
  part INTEGER PRIMARY KEY
);
CREATE TABLE stale_vectors (
  part INTEGER PRIMARY KEY
);
CREATE TABLE store_files (
  path TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  sum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE tellings (
  part INTEGER NOT NULL,
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  role INTEGER NOT NULL,
  tool INTEGER,
  call TEXT,
  is_error INTEGER NOT NULL,
  fields TEXT,
  PRIMARY KEY (part, file, line)
) WITHOUT ROWID;
INSERT INTO "tellings" VALUES(1,1,1,0,0,NULL,NULL,0,NULL);
INSERT INTO "tellings" VALUES(1,3,1,0,0,NULL,NULL,0,NULL);
INSERT INTO "tellings" VALUES(2,1,2,2,1,NULL,NULL,0,NULL);
INSERT INTO "tellings" VALUES(2,3,2,2,1,NULL,NULL,0,NULL);
INSERT INTO "tellings" VALUES(3,1,3,3,1,7,'toolu_8332f1ee8409a99b026b',0,'[["command",9,37],["description",51,68]]');
INSERT INTO "tellings" VALUES(3,3,3,3,1,7,'toolu_8332f1ee8409a99b026b',0,'[["command",9,37],["description",51,68]]');
INSERT INTO "tellings" VALUES(4,1,4,4,0,7,'toolu_8332f1ee8409a99b026b',0,NULL);
INSERT INTO "tellings" VALUES(4,3,4,4,0,7,'toolu_8332f1ee8409a99b026b',0,NULL);
INSERT INTO "tellings" VALUES(5,1,5,3,1,8,'toolu_d804c82d5fc6e62c38ee',0,'[["file_path",11,41],["old_string",54,58],["new_string",71,77]]');
INSERT INTO "tellings" VALUES(5,3,5,3,1,8,'toolu_d804c82d5fc6e62c38ee',0,'[["file_path",11,41],["old_string",54,58],["new_string",71,77]]');
INSERT INTO "tellings" VALUES(6,1,6,4,0,8,'toolu_d804c82d5fc6e62c38ee',0,NULL);
INSERT INTO "tellings" VALUES(6,3,6,4,0,8,'toolu_d804c82d5fc6e62c38ee',0,NULL);
INSERT INTO "tellings" VALUES(7,1,7,1,1,NULL,NULL,0,NULL);
INSERT INTO "tellings" VALUES(7,3,7,1,1,NULL,NULL,0,NULL);
CREATE TABLE touches (
  path INTEGER NOT NULL,
  record INTEGER NOT NULL,
  action INTEGER NOT NULL,
  PRIMARY KEY (path, record, action)
) WITHOUT ROWID;
INSERT INTO "touches" VALUES(1,5,9);
CREATE INDEX files_session ON files (session);
CREATE INDEX sessions_ended ON sessions (ended);
CREATE INDEX sessions_unsettled ON sessions (id) WHERE is_settled = 0;
CREATE INDEX contexts_values ON contexts (cwd, branch, version, model);
CREATE INDEX records_parent ON records (parent) WHERE parent IS NOT NULL;
CREATE INDEX records_place ON records (file, line);
CREATE INDEX places_file ON places (file);
CREATE INDEX places_session ON places (session);
CREATE INDEX parts_record ON parts (record, block);
CREATE INDEX parts_typed ON parts (session, kind) WHERE kind IN (0,9,13);
CREATE INDEX tellings_file ON tellings (file, line);
CREATE INDEX touches_record ON touches (record);
CREATE INDEX facts_leaf ON facts (leaf) WHERE leaf IS NOT NULL;
CREATE TRIGGER part_changed AFTER UPDATE OF kind, role, session, tool, is_error, repeats ON parts
WHEN (old.kind, old.role, old.session, old.tool, old.is_error, old.repeats)
  IS NOT (new.kind, new.role, new.session, new.tool, new.is_error, new.repeats)
BEGIN
  INSERT OR IGNORE INTO stale VALUES (new.id);
END;
CREATE TRIGGER part_erased AFTER DELETE ON parts
BEGIN
  INSERT OR IGNORE INTO stale VALUES (old.id);
END;
CREATE TRIGGER record_changed AFTER UPDATE OF agent, context, time, flags ON records
WHEN (old.agent, old.context, old.time, old.flags & 1) IS NOT (new.agent, new.context, new.time, new.flags & 1)
BEGIN
  INSERT OR IGNORE INTO stale SELECT id FROM parts WHERE record = new.id;
END;
CREATE TRIGGER seal_names_insert AFTER INSERT ON names
BEGIN
  INSERT INTO seals VALUES (0, new.id >> 10, row_sum(new.id, new.name)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_names_update AFTER UPDATE ON names
BEGIN
  INSERT INTO seals VALUES (0, new.id >> 10, row_sum(new.id, new.name) - row_sum(old.id, old.name)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_names_delete AFTER DELETE ON names
BEGIN
  INSERT INTO seals VALUES (0, old.id >> 10, -row_sum(old.id, old.name)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_numbers_insert AFTER INSERT ON numbers
BEGIN
  INSERT INTO seals VALUES (1, 0, row_sum(new.name, new.last)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_numbers_update AFTER UPDATE ON numbers
BEGIN
  INSERT INTO seals VALUES (1, 0, row_sum(new.name, new.last) - row_sum(old.name, old.last)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_numbers_delete AFTER DELETE ON numbers
BEGIN
  INSERT INTO seals VALUES (1, 0, -row_sum(old.name, old.last)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_files_insert AFTER INSERT ON files
BEGIN
  INSERT INTO seals VALUES (2, new.id >> 10, row_sum(new.id, new.path, new.kind, new.session, new.agent, new.directory, new.is_copy, new.is_gone, new.checkpoint, new.bytes, new.lines, new.torn, new.noise)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_files_update AFTER UPDATE ON files
BEGIN
  INSERT INTO seals VALUES (2, new.id >> 10, row_sum(new.id, new.path, new.kind, new.session, new.agent, new.directory, new.is_copy, new.is_gone, new.checkpoint, new.bytes, new.lines, new.torn, new.noise) - row_sum(old.id, old.path, old.kind, old.session, old.agent, old.directory, old.is_copy, old.is_gone, old.checkpoint, old.bytes, old.lines, old.torn, old.noise)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_files_delete AFTER DELETE ON files
BEGIN
  INSERT INTO seals VALUES (2, old.id >> 10, -row_sum(old.id, old.path, old.kind, old.session, old.agent, old.directory, old.is_copy, old.is_gone, old.checkpoint, old.bytes, old.lines, old.torn, old.noise)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_sessions_insert AFTER INSERT ON sessions
BEGIN
  INSERT INTO seals VALUES (3, new.id >> 10, row_sum(new.id, new.name, new.started, new.ended, new.has_transcript, new.is_settled)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_sessions_update AFTER UPDATE ON sessions
BEGIN
  INSERT INTO seals VALUES (3, new.id >> 10, row_sum(new.id, new.name, new.started, new.ended, new.has_transcript, new.is_settled) - row_sum(old.id, old.name, old.started, old.ended, old.has_transcript, old.is_settled)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_sessions_delete AFTER DELETE ON sessions
BEGIN
  INSERT INTO seals VALUES (3, old.id >> 10, -row_sum(old.id, old.name, old.started, old.ended, old.has_transcript, old.is_settled)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_contexts_insert AFTER INSERT ON contexts
BEGIN
  INSERT INTO seals VALUES (4, new.id >> 10, row_sum(new.id, new.cwd, new.branch, new.version, new.entrypoint, new.model)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_contexts_update AFTER UPDATE ON contexts
BEGIN
  INSERT INTO seals VALUES (4, new.id >> 10, row_sum(new.id, new.cwd, new.branch, new.version, new.entrypoint, new.model) - row_sum(old.id, old.cwd, old.branch, old.version, old.entrypoint, old.model)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_contexts_delete AFTER DELETE ON contexts
BEGIN
  INSERT INTO seals VALUES (4, old.id >> 10, -row_sum(old.id, old.cwd, old.branch, old.version, old.entrypoint, old.model)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_records_update AFTER UPDATE ON records
BEGIN
  INSERT INTO seals VALUES (5, new.id >> 10, row_sum(new.id, new.uuid, new.parent, new.missing_parent, new.logical_parent, new.source_call, new.type, new.session, new.agent, new.file, new.line, new.time, new.context, new.response, new.standing, new.flags) - row_sum(old.id, old.uuid, old.parent, old.missing_parent, old.logical_parent, old.source_call, old.type, old.session, old.agent, old.file, old.line, old.time, old.context, old.response, old.standing, old.flags)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_records_delete AFTER DELETE ON records
BEGIN
  INSERT INTO seals VALUES (5, old.id >> 10, -row_sum(old.id, old.uuid, old.parent, old.missing_parent, old.logical_parent, old.source_call, old.type, old.session, old.agent, old.file, old.line, old.time, old.context, old.response, old.standing, old.flags)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_places_insert AFTER INSERT ON places
BEGIN
  INSERT INTO seals VALUES (6, new.record >> 10, row_sum(new.record, new.file, new.line, new.is_by_file, new.session, new.agent, new.parent, new.logical_parent, new.source_call, new.type, new.time, new.context, new.response, new.standing, new.flags)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_places_update AFTER UPDATE ON places
BEGIN
  INSERT INTO seals VALUES (6, new.record >> 10, row_sum(new.record, new.file, new.line, new.is_by_file, new.session, new.agent, new.parent, new.logical_parent, new.source_call, new.type, new.time, new.context, new.response, new.standing, new.flags) - row_sum(old.record, old.file, old.line, old.is_by_file, old.session, old.agent, old.parent, old.logical_parent, old.source_call, old.type, old.time, old.context, old.response, old.standing, old.flags)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_places_delete AFTER DELETE ON places
BEGIN
  INSERT INTO seals VALUES (6, old.record >> 10, -row_sum(old.record, old.file, old.line, old.is_by_file, old.session, old.agent, old.parent, old.logical_parent, old.source_call, old.type, old.time, old.context, old.response, old.standing, old.flags)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_parts_update AFTER UPDATE ON parts
BEGIN
  INSERT INTO seals VALUES (7, new.id >> 10, row_sum(new.id, new.record, new.block, new.variant, new.kind, new.role, new.session, new.standing, new.digest, new.tool, new.call, new.is_error, new.fields, new.chunk, new.start, new.length, new.language, new.repeats) - row_sum(old.id, old.record, old.block, old.variant, old.kind, old.role, old.session, old.standing, old.digest, old.tool, old.call, old.is_error, old.fields, old.chunk, old.start, old.length, old.language, old.repeats)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_parts_delete AFTER DELETE ON parts
BEGIN
  INSERT INTO seals VALUES (7, old.id >> 10, -row_sum(old.id, old.record, old.block, old.variant, old.kind, old.role, old.session, old.standing, old.digest, old.tool, old.call, old.is_error, old.fields, old.chunk, old.start, old.length, old.language, old.repeats)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_tellings_insert AFTER INSERT ON tellings
BEGIN
  INSERT INTO seals VALUES (8, new.part >> 10, row_sum(new.part, new.file, new.line, new.kind, new.role, new.tool, new.call, new.is_error, new.fields)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_tellings_update AFTER UPDATE ON tellings
BEGIN
  INSERT INTO seals VALUES (8, new.part >> 10, row_sum(new.part, new.file, new.line, new.kind, new.role, new.tool, new.call, new.is_error, new.fields) - row_sum(old.part, old.file, old.line, old.kind, old.role, old.tool, old.call, old.is_error, old.fields)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_tellings_delete AFTER DELETE ON tellings
BEGIN
  INSERT INTO seals VALUES (8, old.part >> 10, -row_sum(old.part, old.file, old.line, old.kind, old.role, old.tool, old.call, old.is_error, old.fields)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_chunks_insert AFTER INSERT ON chunks
BEGIN
  INSERT INTO seals VALUES (9, new.id >> 10, row_sum(new.id, new.first_part, new.last_part)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_chunks_update AFTER UPDATE ON chunks
BEGIN
  INSERT INTO seals VALUES (9, new.id >> 10, row_sum(new.id, new.first_part, new.last_part) - row_sum(old.id, old.first_part, old.last_part)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_chunks_delete AFTER DELETE ON chunks
BEGIN
  INSERT INTO seals VALUES (9, old.id >> 10, -row_sum(old.id, old.first_part, old.last_part)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_responses_insert AFTER INSERT ON responses
BEGIN
  INSERT INTO seals VALUES (10, new.id >> 54, row_sum(new.id, new.record, new.input, new.output, new.cache_read, new.cache_write, new.cost)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_responses_update AFTER UPDATE ON responses
BEGIN
  INSERT INTO seals VALUES (10, new.id >> 54, row_sum(new.id, new.record, new.input, new.output, new.cache_read, new.cache_write, new.cost) - row_sum(old.id, old.record, old.input, old.output, old.cache_read, old.cache_write, old.cost)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_responses_delete AFTER DELETE ON responses
BEGIN
  INSERT INTO seals VALUES (10, old.id >> 54, -row_sum(old.id, old.record, old.input, old.output, old.cache_read, old.cache_write, old.cost)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_paths_insert AFTER INSERT ON paths
BEGIN
  INSERT INTO seals VALUES (11, new.id >> 10, row_sum(new.id, new.path)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_paths_update AFTER UPDATE ON paths
BEGIN
  INSERT INTO seals VALUES (11, new.id >> 10, row_sum(new.id, new.path) - row_sum(old.id, old.path)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_paths_delete AFTER DELETE ON paths
BEGIN
  INSERT INTO seals VALUES (11, old.id >> 10, -row_sum(old.id, old.path)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_touches_insert AFTER INSERT ON touches
BEGIN
  INSERT INTO seals VALUES (12, new.path >> 10, row_sum(new.path, new.record, new.action)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_touches_update AFTER UPDATE ON touches
BEGIN
  INSERT INTO seals VALUES (12, new.path >> 10, row_sum(new.path, new.record, new.action) - row_sum(old.path, old.record, old.action)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_touches_delete AFTER DELETE ON touches
BEGIN
  INSERT INTO seals VALUES (12, old.path >> 10, -row_sum(old.path, old.record, old.action)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_facts_insert AFTER INSERT ON facts
BEGIN
  INSERT INTO seals VALUES (13, new.session >> 10, row_sum(new.session, new.name, new.value, new.agent, new.leaf, new.line)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_facts_update AFTER UPDATE ON facts
BEGIN
  INSERT INTO seals VALUES (13, new.session >> 10, row_sum(new.session, new.name, new.value, new.agent, new.leaf, new.line) - row_sum(old.session, old.name, old.value, old.agent, old.leaf, old.line)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_facts_delete AFTER DELETE ON facts
BEGIN
  INSERT INTO seals VALUES (13, old.session >> 10, -row_sum(old.session, old.name, old.value, old.agent, old.leaf, old.line)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_problems_insert AFTER INSERT ON problems
BEGIN
  INSERT INTO seals VALUES (14, new.file >> 10, row_sum(new.file, new.line, new.kind, new.detail)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_problems_update AFTER UPDATE ON problems
BEGIN
  INSERT INTO seals VALUES (14, new.file >> 10, row_sum(new.file, new.line, new.kind, new.detail) - row_sum(old.file, old.line, old.kind, old.detail)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_problems_delete AFTER DELETE ON problems
BEGIN
  INSERT INTO seals VALUES (14, old.file >> 10, -row_sum(old.file, old.line, old.kind, old.detail)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_settings_insert AFTER INSERT ON settings
BEGIN
  INSERT INTO seals VALUES (15, 0, row_sum(new.name, new.value)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_settings_update AFTER UPDATE ON settings
BEGIN
  INSERT INTO seals VALUES (15, 0, row_sum(new.name, new.value) - row_sum(old.name, old.value)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_settings_delete AFTER DELETE ON settings
BEGIN
  INSERT INTO seals VALUES (15, 0, -row_sum(old.name, old.value)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_store_files_insert AFTER INSERT ON store_files
BEGIN
  INSERT INTO seals VALUES (16, 0, row_sum(new.path, new.bytes, new.sum)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_store_files_update AFTER UPDATE ON store_files
BEGIN
  INSERT INTO seals VALUES (16, 0, row_sum(new.path, new.bytes, new.sum) - row_sum(old.path, old.bytes, old.sum)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_store_files_delete AFTER DELETE ON store_files
BEGIN
  INSERT INTO seals VALUES (16, 0, -row_sum(old.path, old.bytes, old.sum)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_losses_insert AFTER INSERT ON losses
BEGIN
  INSERT INTO seals VALUES (17, new.id >> 10, row_sum(new.id, new.time, new.part, new.detail)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_losses_update AFTER UPDATE ON losses
BEGIN
  INSERT INTO seals VALUES (17, new.id >> 10, row_sum(new.id, new.time, new.part, new.detail) - row_sum(old.id, old.time, old.part, old.detail)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE TRIGGER seal_losses_delete AFTER DELETE ON losses
BEGIN
  INSERT INTO seals VALUES (17, old.id >> 10, -row_sum(old.id, old.time, old.part, old.detail)) ON CONFLICT DO UPDATE SET sum = sum + excluded.sum;
END;
CREATE INDEX records_missing_parent ON records (missing_parent) WHERE missing_parent IS NOT NULL;
CREATE INDEX records_session ON records (session);
CREATE INDEX parts_session ON parts (session, standing);
CREATE INDEX parts_call ON parts (call) WHERE call IS NOT NULL;
CREATE INDEX parts_repeats ON parts (repeats) WHERE repeats IS NOT NULL;
COMMIT;
PRAGMA user_version = 4;
